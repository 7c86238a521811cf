"""Adjoints and tangents of IR, by source transformation.

activity, surely     what needs a cotangent, and what a tape would follow, or surely does
adjoint, cotangents  the reverse sweep through blocks and loops; what each row gives to its operands
tangent              forward mode, of adjoints too
transposed           tangents of rows that choose among tied elements: their rules, transposed
products             cotangents times partials, where 0 times infinity is 0
bodies, renaming     what blocks read and write; blocks once more, with variables of their own
snapshots            arrays that a loop replaces, kept whole at the head of each iteration
checkpoint           long loops in bounded memory
closing              what is done last with gradients: zeros without a sign, what is not finite
"""
