"""IR to better IR. Each pass keeps what the program means, and every bit of its results but where its head says.

What passes are made of
    statements              uses and definitions: what statements read and set, and the blocks inside them
    cloning                 statements again, with variables of their own
    dependence              affine indices, and whether two statements may touch one element

On the program, before it is differentiated
    failing, widths,        failures as effects; float32 and float64: inference, and guards
      sure_widths
    alignment, code_motion  loop alignment; statements moved out from between loops
    fuse                    loop fusion and array contraction
    stored_intermediates    store or recompute: what the reverse sweep need not compute again

On what a sweep has made, in this order
    dead_code               dead-code elimination, which many passes leave their rests to
    redundant_arrays        value numbering of whole arrays
    tidy                    copy propagation; accumulators and branches as one would write them
    loop_reversal           loops of the reverse sweep forwards
    scalar_promotion        sums into one element, collected in a variable
    first_stores            arrays of zeros filled by the loop that first adds to them
    memory, dead_fills      copy coalescing and dead-store elimination of arrays; of fills
    scalar_replacement      sums into neighbouring elements, in variables between iterations
    sum_fission             sums into several places, a loop for each
    shifted_fusion,         loop fusion with shifting and peeling
      shifted_loop
    peeled_fusion           loops over all elements in those that leave the first few out
    outer_vectorisation     short sums over rows of an array, several rows at a time
    common_subexpressions   what is computed or loaded twice
    unrolling               full unrolling of short loops over short lists
    flag_sinking            flags of singular points, raised behind the loop that meets them
    check_fission           checks of indices, in a loop before

Around the loop over directions
    invariant_arrays,       loop-invariant code motion: of arrays, of single values
      invariant_values
    zero_rows               rows of tangents that are zero, skipped
    plain_products          products of cotangents for callers who look at every result

On a kernel as it is emitted, which they look at and leave as it is
    parallel_loops, polls   loops for several cores; loops that ask whether to go on
"""
