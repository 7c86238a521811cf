"""Emitted source to object code.

own_loops            loops of adiff's own, compiled from their Python text
compiler             which compiler, and what a kernel asks of its host
native, by_numba     by LLVM alone; by Numba, which the tests hold the first to
llvm_module          a kernel and the functions that it calls, as a module of LLVM's intermediate representation
llvm_writer          the text of one function as it is written
llvm_statements,     statements; expressions, their operators and calls
  llvm_values, llvm_operators, llvm_calls
llvm_extrema,        extrema and exponentials on vectors; loops that take the widest vectors; loops that threads share;
  llvm_exp,          what a kernel asks of its host
  llvm_streams, llvm_sharing, llvm_host
"""
