#pragma once
// The state of the kernel in a snapshot: all but the options, the coordinator's incarnation and the
// time of its start.

namespace coxswain::core {

class kernel;
class state_reader;
class state_writer;

void save(kernel const& from, state_writer& to);
// `into` is new.
void load(kernel& into, state_reader& from);

}  // namespace coxswain::core
