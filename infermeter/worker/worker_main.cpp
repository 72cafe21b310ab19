// The worker program: one trial, or one look at a back end, and then it ends.
#include "infermeter/worker/worker.hpp"

int main(int argc, char** argv) { return infermeter::worker_main(argc, argv); }
