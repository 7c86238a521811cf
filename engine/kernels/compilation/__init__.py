"""Emitted source to object code.

own_loops            loops of adiff's own, compiled from their Python text
compiler             which compiler, and what a kernel asks of its host
native, by_numba     by LLVM alone; by Numba, which the tests hold the first to
llvm_module          a kernel and the functions that it calls, as a module of LLVM's intermediate representation
llvm_writer          the text of one function as it is written
llvm_statements,     statements; expressions, their operators and calls
  llvm_values, llvm_operators, llvm_calls
llvm_extrema,        extrema on vectors; loops that take the widest vectors; loops that threads share; what a kernel
  llvm_streams,      asks of its host
  llvm_parallel, llvm_host
llvm_vectors         which loops may become loops on vectors although they call functions
llvm_many,           what is called in them: exponentials, logarithms, error functions, angles, powers, written as
  llvm_exp, llvm_gauss, llvm_inverse, llvm_power, llvm_turning      arithmetic (llvm_arithmetic)
"""
