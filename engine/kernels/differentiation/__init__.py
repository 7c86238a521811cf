"""Adjoints and tangents of IR, by source transformation.

activity, must_reach  activity analysis: what needs a cotangent, what a tape may follow; what it follows for certain
adjoint, cotangents   reverse mode: the sweep through blocks and loops; what each row gives to its operands
tangent               forward mode, of adjoints too
taylor                Taylor mode: forward mode of one order after another
transposed            forward mode of rows that choose among tied elements: their rules, transposed
bare                  how wide cotangents are, beside float32: those of bare numbers are bare
products              cotangents times partials, where 0 times infinity is 0
bodies, slopes        what blocks read and write; loops that find their slope before they multiply
renaming              cloning: blocks once more, with variables of their own
snapshots             arrays that a loop replaces, kept whole at the head of each iteration
checkpoint            binomial checkpointing: long loops in bounded memory
closing               epilogue: gradients' zeros without a sign, what is not finite
"""
