#!/bin/sh
# A book of options: prices and sensitivities, their sum, a hedge, scenarios, an implied volatility, and the vega as a C function.
# sh samples/greeks.sh [BOOK.csv [FOLDER]]
set -eu
here=$(dirname "$0"); book=${1:-$here/options.csv}; out=${2:-.}; model=$here/black_scholes.adiff
# Each option's price, delta, strike, theta, vega, and its gamma from the Hessian: a row each.
adiff grad -f "$model" --rows "$book" --at r=0.03 --wrt S,T,v -o "$out/greeks.csv" --strict
adiff hessian -f "$model" --rows "$book" --at r=0.03 --wrt S -o "$out/gamma.parquet" --strict
# The derivatives hold against an independent check, or the script ends here.
adiff check -f "$model" --rows "$book" --at r=0.03 --wrt S,T,v --strict -o "$out/check.csv"
# What the book is worth, and how many shares hedge it.
total="sum(quantity * each)"
echo "value $(adiff value "$total" --at "quantity=@$book:quantity,each=@$out/greeks.csv:value" --precision 12)"
echo "delta $(adiff value "$total" --at "quantity=@$book:quantity,each=@$out/greeks.csv:d_S" --precision 12)"
# The first option over spots and volatilities: a grid, and the price for each of its points.
adiff value -f "$model" --over S=80:120:5 --over v=0.1:0.4/7 --at K=105,T=0.5,r=0.03 -o "$out/scenarios.csv" --strict
# The volatility at which the model gives a quote of 6.
quote="d = (log(S/K) + (r + v**2/2)*T)/(v*sqrt(T)); (S*ndtr(d) - K*exp(-r*T)*ndtr(d - v*sqrt(T)) - 6)**2"
adiff minimize "$quote" --start v=0.3 --bounds v=0.01:2 --at S=100,K=105,T=0.5,r=0.03 --json -o "$out/implied.json"
# The vega as a function in C, for a program that prices millions.
adiff derive -f "$model" --wrt v --format c -o "$out/vega.c"
