// Commands in parts, on machines that do not talk to each other, and the parts brought together.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "api/command.hpp"
#include "api/shard/file.hpp"
#include "arguments/arguments.hpp"

/// The answer of a command of which one part is asked: the file of that part. `given`: the
/// arguments of the program, without its name.
headway::CommandOutput run_shard(const headway::Arguments& asked,
                                 std::span<const char* const> given, const std::string& version);

/// The same as a value, apart from the file. `known`: what other parts came to so far; `shared`:
/// what this process has made for them and uses again.
headway::Result<headway::ShardFile> worked_out(
    const headway::Arguments& asked, std::span<const char* const> given, const std::string& version,
    const headway::Shard& shard, const std::vector<headway::PartLines>& known,
    std::shared_ptr<void>& shared, headway::Problems& warnings);

/// Why a part is not of what these arguments ask of this program and the files that are here;
/// nothing where it is. `name`: of its file.
headway::Problems of_another_request(const headway::ShardFile& file, const std::string& name,
                                     std::span<const char* const> given,
                                     const std::string& version);

/// `merge`: what the command of the parts says, of all of them.
headway::Command merge_command(std::function<std::vector<headway::CommandRow>()> rows,
                               const std::string& version);
