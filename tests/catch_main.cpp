// The one main() of all test executables. A case that throws Skipped ends the process with 77, which CTest shows as "Skipped":
// CTest runs each case in a process of its own, so a skip is never a silent pass. (Catch2 2.13 has no SKIP().)
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
