"""Whole kernels: the passes one after the other, for every command.

construct                the kernel of a value, or of a value and its gradient
derivatives, directions  the kernels of hessian, jacobian, jvp, vjp and hvp: a loop over directions
series                   the kernel of `derivative`: Taylor mode
dependence               what each element of a gradient depends on
connection, paths        which inputs a run reaches the result from, and where the paths of others end
choices                  what a run chooses, and how near it comes to singular points
"""
