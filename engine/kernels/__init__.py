"""The kernel tier: the core program compiled, with its derivatives, to machine code by way of Numba.

core program --specialise--> IR --adjoint / tangent--> IR --simplify--> IR --emit--> Python source --Numba--> code
"""
