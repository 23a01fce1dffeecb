// Recognises files of other tools, so that a person who hands one to a cluster or length reader is told what it is.
#pragma once

#include <string>

namespace hsap {

/// What `text` looks like, as the end of "this is ...": "an NCCL topology XML". Empty when nothing is recognised.
std::string recognise_other_format(const std::string& text);

}  // namespace hsap
