#include <iostream>

#include "experiments/cli/run_cli.h"

int main(int argc, char** argv) { return zerolab::run_cli(argc, argv, std::cout, std::cerr); }
