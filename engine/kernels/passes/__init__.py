"""IR to better IR. Each pass keeps what the program means, and every bit of its results but where its head says.

statements             what statements read and set, and the blocks inside them
simplify, tidy         dead code; accumulators, copies and branches as one would write them
common                 what is computed or loaded twice; sums that are collected in a row
repeated               arrays that are filled as others have been, by rows and by their rules
fuse                   loops over one range as one, without the arrays between them
abreast                short sums over rows of an array, several rows at a time
behind, handed_on      loops that follow each other some iterations behind, as one
shifting, raising      loops over shifted arrays brought into step; what stands between loops put before them
gather, windows,       loops of the reverse sweep forwards; their sums in variables, or each by itself
  summing_apart
failing                errors of what nobody reads
picking                short loops that pick elements of short lists, written out
noting, checking_first what loops note of singular points and check of indices, behind them and before them
memory, overwritten    arrays that are copies, stores that nothing reads; fills before all is written anyway
dear                   values that are dear to compute, kept for the reverse sweep
once, beforehand,      what no direction changes, before the loop over directions; tangents that are zero
  passing_over
plain_products         products of cotangents for callers who look at every result
widths                 kernels that compute in float32, and what is float64 in them all the same
sharing, polls         loops for several cores; which loops ask whether to go on
"""
