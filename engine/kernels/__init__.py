"""The kernel tier: the core program compiled, with its derivatives, to machine code.

core program --specialise--> IR --fuse, adjoint--> IR --simplify, tidy--> IR --emit--> Python source --LLVM--> code

specialise (expressions, calls, applying,     the core program run on symbols; build, arrays, array_rows, composites
  items, static, functional)
control, loops, carried, heap                branches and loops: what they change, merged and carried
selected, sliced, data_shaped                parts of tensors whose length data decides; nonzero, unique and their kin
sequences, recursion, hoist                  lists and what can be gone through; recursion as a loop over frames
grids                                        lists of lists of one length
choosing                                     choices among items by data: membership, keys, order, letters
operands                                     what was evaluated before something changed in place
pairs, complex_rows, complex_arrays          complex numbers, as pairs of real ones; products and matrices of them
strength                                     integers with a dtype of their own, which meet no floats
widths                                       kernels that compute in float32, and what is float64 in them all the same
inputs, structures, whole                    what a kernel is specialised to; results that are lists, tuples and dicts, or
                                             integers on some paths
following, connection, paths                 which inputs a run reaches the result from, and where the paths of others end
activity, surely                             what needs a cotangent, and what a tape would surely follow
shifting, raising, fuse                      loops over shifted arrays in step, what stands between loops before them; loops
                                             over one range as one, without the arrays between them
behind, handed_on                            loops that follow each other some iterations behind as one, and what it hands on
dear                                         what the reverse sweep had better load than compute again
adjoint, cotangents                          the reverse sweep, by source transformation: through blocks and loops; what rows give
closing                                      what is done last with gradients: zeros without a sign, what is not finite
bodies, renaming, products                   what it asks of blocks, blocks again, products of cotangents and partials
checkpoint                                   long loops in bounded memory
tangent                                      forward mode, of adjoints too
nested; tapes, asked; customs                derivatives inside programs: of functions; of blocks; rules of the program's
second                                       what cotangents of a gradient give, by adjoints of tangents
differentiated                               blocks of a kernel with their derivatives, put where they stand
variables, printing                          what programs assign in place, and what they print
dependence, sparse                           what each element of a gradient depends on; Hessians by their pattern
derivatives, directions, series, answers     the kernels of hessian, jacobian, jvp, vjp and hvp, and what they give
once, beforehand, passing_over               what no direction changes, before their loop: arrays, and values that are dear;
                                             rows of tangents that are zero
gather, windows, summing_apart               loops of the reverse sweep forwards, their sums in variables, or each by itself
statements                                   what statements read and set, and the blocks inside them
simplify, tidy                               dead code; accumulators, copies and branches as one would write them
sharing                                      loops for several cores
emit, primitives                             Python source; the text of each row
over_rows, plain_products                    a kernel in a loop over the rows of a table
memory, snapshots                            arrays that are copies, stores that nothing reads; arrays that loops keep whole
construct                                    the passes, one after the other
runtime, work, outline, outlook              kernels by program and inputs; whether one repays its compilation, what there
                                             is to do in it, and what tells so before it is looked into
compiler                                     source to object code, by one compiler or the other
llvm_module, llvm_statements, llvm_values,   the source in LLVM's terms
  llvm_extrema, llvm_exp, llvm_host,
  llvm_sharing, llvm_writer
native, by_numba                             by LLVM alone; by Numba, which the tests hold the first to
machine, record, frames, spare               object code loaded and called; what it shares with its host; memory that
                                             waits for the next call
usual, settled                               calls again and again, of results that are as most are; the look at these
externals, routines                          functions of libraries that kernels call: of numbers, and on whole matrices
readings, built, emitted, store              what a kernel's results are, and what is known of it beside its code; kernels
                                             kept between runs
polls, threads, failures                     kernels that signals, limits and errors end
own_loops                                    loops of adiff's own, compiled from their Python text

What this tier does not take, or cannot answer as the tape would, is `Unsupported`, with the reason: the tape runs it.
"""
