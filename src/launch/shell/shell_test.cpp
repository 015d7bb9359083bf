#include "launch/shell/shell.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace headway {
namespace {

// The words of the last command, with bars between them; or the first problem.
std::string last_command(const std::string& text) {
  const auto script = read_shell(text, "s.sh");
  if (!script) return where_text(script.problems()[0]) + ": " + script.problems()[0].message;
  std::string out;
  if (script->commands.empty()) return "(no command)";
  for (const ShellWord& word : script->commands.back()) {
    out += (out.empty() ? "" : "|") + word.text;
  }
  return out;
}

TEST(LaunchShell, QuotesAndContinuationsMakeWordsAsTheShellDoes) {
  EXPECT_EQ(last_command("a 'b  c' \"d e\"f g\\ h \\\n  i # j"), "a|b  c|d ef|g h|i");
  EXPECT_EQ(last_command("a \"b\\\"c\\n\" '\\d' \"x\\\ny\"\n"), "a|b\"c\\n|\\d|xy");
  EXPECT_EQ(last_command("a b#c > out.txt 2>&1\n"), "a|b#c|2");
  EXPECT_EQ(last_command("a; b && c | d e"), "d|e");
  EXPECT_EQ(last_command("a \\\r\n b\r\n"), "a|b");
}

TEST(LaunchShell, VariablesAreWhatWasAssignedBefore) {
  EXPECT_EQ(last_command("A=1; B=\"$A 2\"\nx $B \"$B\" ${A}3"), "x|1|2|1 2|13");
  EXPECT_EQ(last_command("L=(a 'b c' # d\n e)\nL+=(f)\nx \"${L[@]}\""), "x|a|b c|e|f");
  EXPECT_EQ(last_command("A=a; A+=b; A=\"$A c\"; x $A"), "x|ab|c");
  EXPECT_EQ(last_command("export A=1 B=2\nx $A$B"), "x|12");
  EXPECT_EQ(last_command("x ${A:-4} ${B:-${C:-5}} ${D:=6}"), "x|4|5|6");
  EXPECT_EQ(last_command("N=2; G=8; x $((N * ($G + 1) - 10 / 3 % 2))"), "x|17");
}

TEST(LaunchShell, ElementsOfAListSplitInWordsUnlessTheyAreQuoted) {
  // As bash -c prints with printf '%s|' for the same lines.
  EXPECT_EQ(last_command("A=(\"--fp8-format hybrid\" '--x  1')\ny ${A[@]}"),
            "y|--fp8-format|hybrid|--x|1");
  EXPECT_EQ(last_command("A=(\"--fp8-format hybrid\" b)\ny \"${A[@]}\""),
            "y|--fp8-format hybrid|b");
  EXPECT_EQ(last_command("A=('a b' c)\ny \"-${A[@]}-\""), "y|-a b|c-");
  EXPECT_EQ(last_command("A=('a b' c)\ny \"${A[*]}\" ${A[*]}"), "y|a b c|a|b|c");
  EXPECT_EQ(last_command("A=('a b' c)\nB=(\"${A[@]}\" ${A[@]})\ny \"${B[@]}\""), "y|a b|c|a|b|c");
  EXPECT_EQ(last_command("A=('a b' c)\nB=\"${A[@]} d\"\ny \"$B\" $B"), "y|a b c d|a|b|c|d");
  // Quotation marks inside a quoted element are part of it.
  EXPECT_EQ(last_command("A=(\"--split '99,1,0'\")\ny ${A[@]}"), "y|--split|'99,1,0'");
}

TEST(LaunchShell, AListWithoutASubscriptIsItsFirstElement) {
  EXPECT_EQ(last_command("A=(a b c)\ny $A ${A} \"$A\" ${A[1]} ${A[-1]} ${#A[@]}"), "y|a|a|a|b|c|3");
  EXPECT_EQ(last_command("A=(a)\ny ${A[7]} z"), "y|z");
  EXPECT_EQ(last_command("A=a\ny ${A[@]} ${A[0]} ${#A[@]}"), "y|a|a|1");
  EXPECT_EQ(last_command("A=()\ny ${A[@]} $A z"), "y|z");
}

TEST(LaunchShell, WhatOnlyTheRunningShellKnowsStandsAsItIsWritten) {
  EXPECT_EQ(last_command("x $1 ${HOST} $(hostname -s) `date` $((A+1))"),
            "x|${1}|${HOST}|$(hostname -s)|`date`|$((A+1))");
  EXPECT_EQ(last_command("x \"$@\" y"), "x||y");
}

TEST(LaunchShell, HereDocumentsAreNoCommands) {
  EXPECT_EQ(last_command("cat > f <<'EOF'\n--num-layers \"3\nEOF\nx y\n"), "x|y");
  EXPECT_EQ(last_command("cat <<EOF\nabc\n"), "s.sh:1: the here-document 'EOF' does not end");
}

TEST(LaunchShell, AHereDocumentThatDoesNotEndIsNamedByItsDelimiter) {
  const auto script = read_shell("cat <<END_OF_THE_CONFIGURATION > c.json\n{}\nrun\n", "s.sh");
  ASSERT_FALSE(script.ok());
  ASSERT_EQ(script.problems().size(), 1u);
  EXPECT_EQ(where_text(script.problems()[0]), "s.sh:1");
  EXPECT_EQ(script.problems()[0].message,
            "the here-document 'END_OF_THE_CONFIGURATION' does not end");
}

TEST(LaunchShell, AHereDocumentThatGoesToAFileIsKept) {
  const auto script = read_shell(
      "N=8\nF=c.json\ncat <<EOT > $F\n{\"a\": $N,\n \"b\": \"\\$x\"}\nEOT\n"
      "cat > 'd' << 'EOT'\n$N\nEOT\ncat <<-E | sed s/a/b/ > e\n\tx\n\tE\nrun c.json\n",
      "s.sh");
  ASSERT_TRUE(script.ok());
  ASSERT_EQ(script->files.size(), 2u);  // what sed makes of the last one is not known
  EXPECT_EQ(script->files[0].name, "c.json");
  EXPECT_EQ(script->files[0].text, "{\"a\": 8,\n \"b\": \"$x\"}\n");
  EXPECT_EQ(script->files[0].line, 4);
  EXPECT_EQ(script->files[1].name, "d");
  EXPECT_EQ(script->files[1].text, "$N\n");  // a quoted delimiter keeps variables as they are
  EXPECT_EQ(script->commands.back().back().text, "c.json");
}

TEST(LaunchShell, WordsKnowTheirLines) {
  const auto script = read_shell("A=\"1 \\\n 2\"\nL=(3\n 4)\nx $A ${L[@]}\n", "s.sh");
  ASSERT_TRUE(script.ok());
  std::vector<int> lines;
  for (const ShellWord& word : script->commands.at(0)) lines.push_back(word.line);
  EXPECT_EQ(lines, (std::vector<int>{5, 1, 2, 3, 4}));
}

TEST(LaunchShell, ConditionsAreReadThroughAndTold) {
  const auto script = read_shell("if [ $A = 1 ]; then\n B=2\nelse B=3; fi\nx $B\n", "s.sh");
  ASSERT_TRUE(script.ok());
  EXPECT_EQ(script->branch_line, 1);
  EXPECT_EQ(script->commands.back().back().text, "3");
}

TEST(LaunchShell, BranchesThatTheScriptDecidesAreFollowed) {
  const auto last = [](const std::string& condition) {
    return last_command("A=1\nB=fp8\nE=\nif " + condition +
                        "; then\n C=yes\nelse\n C=no\nfi\nx $C\n");
  };
  for (const char* holds :
       {"[ $A = 1 ]", "[[ \"$B\" == \"fp8\" ]]", "test $A -eq 1", "[ $A -lt 2 ]",
        "[ \"$B\" != bf16 ]", "[ -z \"$E\" ]", "[ -n \"$B\" ]", "! [ $A = 2 ]", "[ ! $A = 2 ]",
        "[ $A = 2 ] || [ $A = 1 ]", "[ $A = 1 ] && [[ $B == fp8 ]]", "[ $A -ge 1 ]",
        "[ $X = 3 ] || [ $A = 1 ]"}) {
    EXPECT_EQ(last(holds), "x|yes") << holds;
  }
  for (const char* fails :
       {"[ $A = 2 ]", "[[ $B != fp8 ]]", "[ $A -gt 1 ]", "[ -n \"$E\" ]",
        "[ $A = 1 ] && [ $A = 2 ]", "[ $A -le 0 ]", "[ $A -ne 1 ]", "[ $X = 3 ] && [ $A = 2 ]"}) {
    EXPECT_EQ(last(fails), "x|no") << fails;
  }
  // elif, branches in branches, and what nobody knows: the last line counts, as without branches.
  EXPECT_EQ(last_command("A=2\nif [ $A = 1 ]; then B=1\nelif [ $A = 2 ]; then B=2\n"
                         "elif [ $A = 2 ]; then B=3\nelse B=4; fi\nx $B\n"),
            "x|2");
  EXPECT_EQ(
      last_command(
          "A=1\nif [ $A = 2 ]; then\n if [ $A = 1 ]; then B=1; else B=2; fi\n B=3\nfi\nx $B\n"),
      "x|${B}");
  for (const char* unknown : {"[ $X = 1 ]", "[ -f y ]", "grep -q a b", "[[ $B == fp* ]]",
                              "[ $A -eq x ]", "D=$(hostname)"}) {
    EXPECT_EQ(last(unknown), "x|no") << unknown;
  }
  const auto line = [](const std::string& text) { return read_shell(text, "s.sh")->branch_line; };
  EXPECT_EQ(line("A=1\nif [ $A = 1 ]; then\n x\nfi\n"), 0);
  EXPECT_EQ(line("A=1\nif [ $A = 2 ]; then\n if [ -f y ]; then x; fi\nfi\n"), 0);
  EXPECT_EQ(line("A=1\nif [ $A = 1 ]; then\n if [ -f y ]; then x; fi\nfi\n"), 3);
  EXPECT_EQ(line("if D=$(hostname); then\n x\nfi\n"), 1);
  EXPECT_EQ(line("for i in 1 2; do x; done\n"), 1);
  EXPECT_EQ(last_command("fi\nthen\nelse\nx\n"), "x");
}

TEST(LaunchShell, HostileScriptsAreRefusedWithTheirLine) {
  EXPECT_EQ(last_command("x\ny 'z\n"), "s.sh:2: the quotation mark ' has no second one");
  EXPECT_EQ(last_command("x \"$(a"), "s.sh:1: the bracket ( is not closed");
  EXPECT_EQ(last_command("x\n\ny ${A"), "s.sh:3: the bracket { is not closed");
  EXPECT_EQ(last_command("L=(a\nb"), "s.sh:1: the list that begins here does not end");
  EXPECT_EQ(last_command(std::string("x\n\0y", 4)),
            "s.sh:2: is no text: it holds control characters");
  EXPECT_EQ(last_command(std::string(kLargestScript + 1, 'x')), "s.sh: is larger than 1 MiB");
  // Two variables of each other are no loop: the first is not assigned yet.
  EXPECT_EQ(last_command("A=${B}; B=${A}; x $B"), "x|${B}");
  // Forty doublings.
  std::string doubling = "A=xxxxxxxx\n";
  for (int i = 0; i < 40; ++i) doubling += "A=$A$A\n";
  EXPECT_NE(last_command(doubling).find("expand to more than 1 MiB"), std::string::npos);
  // Defaults in defaults.
  std::string nested = "1";
  for (int i = 0; i < 100; ++i) nested = "${A:-" + nested + "}";
  EXPECT_NE(last_command("x " + nested).find("nested deeper than 16"), std::string::npos);
  EXPECT_EQ(last_command("x $((9223372036854775807 + 1)) $((1/0)) $((2-))"),
            "x|$((9223372036854775807 + 1))|$((1/0))|$((2-))");
}

TEST(LaunchShell, AScriptThatAnotherShellIsHandedIsReadWhereItStands) {
  // As bash -c 'printf "%s|" WORDS' prints for the inner command.
  EXPECT_EQ(last_command("A='x --n 2'\nsrun --nodes 3 bash -c '$A \"y z\"' 2>&1 | tee log"),
            "tee|log");
  const auto first = [](const std::string& text) {
    const auto script = read_shell(text, "s.sh");
    std::string out;
    for (const ShellWord& word : script->commands.at(0)) {
      out += (out.empty() ? "" : "|") + word.text;
    }
    return out;
  };
  EXPECT_EQ(first("A='x --n 2'\nsrun --nodes 3 bash -c '$A \"y z\"' 2>&1 | tee log"),
            "srun|--nodes|3|x|--n|2|y z");
  EXPECT_EQ(first("A=\" x 'type:a|b' \"\nbash -lc \"run $A\""), "run|x|type:a|b");
  EXPECT_EQ(first("C=\"run --split '9,1'\"\neval $C"), "run|--split|9,1");
  EXPECT_EQ(last_command("N=4\nsbatch --nodes 2 <<EOF\n#!/bin/bash\nrun --n $N \\$N\nEOF\n"),
            "--nodes|2|run|--n|4|4");
  EXPECT_EQ(last_command("cat <<EOF | bash\nrun a\nEOF\n"), "run|a");
  EXPECT_EQ(last_command("sbatch --wrap=\"run a b\""), "--wrap=run a b|run|a|b");
  EXPECT_EQ(last_command("cat <<'EOF' > job.sh\nrun --n 7\nEOF\nsbatch -N 2 job.sh"),
            "-N|2|run|--n|7");
  EXPECT_EQ(last_command("cat <<'EOF' > job.sh\nrun --n 7\nEOF\nbash job.sh"), "run|--n|7");
}

TEST(LaunchShell, AnInnerScriptThatCannotBeReadIsAWord) {
  EXPECT_EQ(last_command("bash -c 'a \"b'"), "bash|-c|a \"b");
  EXPECT_EQ(last_command("bash other.sh"), "bash|other.sh");
}

TEST(LaunchShell, ScriptsInScriptsEnd) {
  // A file that starts itself is read as often as scripts may nest.
  const auto script = read_shell("cat <<'EOF' > j.sh\nrun\nbash j.sh\nEOF\nbash j.sh\n", "s.sh");
  ASSERT_TRUE(script.ok());
  EXPECT_EQ(std::count_if(script->commands.begin(), script->commands.end(),
                          [](const ShellCommand& one) { return one[0].text == "run"; }),
            kDeepestScript);
}

TEST(LaunchShell, LinesOfAJobThatTheScriptWritesAreTheJobs) {
  const auto script =
      read_shell("sbatch <<EOF\n#SBATCH --nodes=4\n#SBATCH --gres=gpu:8\nrun a\nEOF\n", "s.sh");
  ASSERT_TRUE(script.ok());
  ASSERT_EQ(script->batch.size(), 2U);
  EXPECT_EQ(script->batch[1].text, "--gres=gpu:8");
}

TEST(LaunchShell, AFileThatSedMakesOfAnotherKnowsWhatIsReplaced) {
  const auto script = read_shell(
      "B=8\nsed \"s/BATCH/${B}/\" in.json | sed -e 's#STAGE#2#g' > out.json\n"
      "sed 's/a.c/x/' in.json > other.json\n",
      "s.sh");
  ASSERT_TRUE(script.ok());
  ASSERT_EQ(script->files.size(), 1U);  // a pattern is no word
  EXPECT_EQ(script->files[0].name, "out.json");
  EXPECT_EQ(script->files[0].from, "in.json");
  using Words = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(script->files[0].replaced, (Words{{"BATCH", "8"}, {"STAGE", "2"}}));
}

TEST(LaunchShell, OfACaseTheArmRunsThatTheWordIs) {
  EXPECT_EQ(last_command("S=7B\ncase $S in\n 7B) H=4096 ;;\n 13B|14B) H=5120;;\nesac\nrun $H"),
            "run|4096");
  EXPECT_EQ(last_command("S=14B\ncase $S in 7B) H=1;; 13B | 14B) H=2;; *) H=3;; esac\nrun $H"),
            "run|2");
  EXPECT_EQ(last_command("S=x\ncase \"$S\" in\n7B) H=1\n;;\n*) H=3\n;;\nesac\nrun $H"), "run|3");
  // Which arm runs nobody knows: every one is read, and so is the last.
  EXPECT_EQ(last_command("case $1 in 7B) H=1;; 13B) H=2;; esac\nrun $H"), "run|2");
}

TEST(LaunchShell, ALoopOverTheScriptsOwnArgumentsDoesNotRun) {
  EXPECT_EQ(last_command("Z=0\nwhile [[ $# -gt 0 ]]\ndo\nkey=\"$1\"\ncase $key in\n"
                         "  -z|--zero-stage)\n  Z=$2;\n  shift\n  ;;\n  *)\n  exit 1\n  ;;\n"
                         "esac\ndone\nrun $Z\n"),
            "run|0");
  EXPECT_EQ(last_command("for i in 1 2; do A=$i; done\nwhile read l; do B=1; done\nrun $B"),
            "run|1");
  EXPECT_EQ(last_command("until true; do A=1; done\nF=false\nif $F; then A=2; fi\nrun ${A:-0}"),
            "run|0");
}

TEST(LaunchShell, ANameThatNobodySetsIsEmptyInATest) {
  EXPECT_EQ(last_command("A=0\nif [ -z ${VP} ]; then A=1; else A=2; fi\nrun $A"), "run|1");
  EXPECT_EQ(last_command("A=0\nif [ -n \"$KEY\" ]; then A=1; fi\nrun $A"), "run|0");
  EXPECT_EQ(last_command("A=0\nif [ -z ${P+x} ]; then A=1; else A=2; fi\nrun $A"), "run|1");
  // The queue sets its own: both branches are read, the last counts.
  EXPECT_EQ(last_command("A=0\nif [ -z \"$SLURM_JOB_ID\" ]; then A=1; else A=2; fi\nrun $A"),
            "run|2");
}

TEST(LaunchShell, APlaceToFillInIsAWordAndNoRedirection) {
  EXPECT_EQ(last_command("run --vocab <PATH TO vocab.json> --fp16 <Name>_text"),
            "run|--vocab|<PATH TO vocab.json>|--fp16|<Name>_text");
  EXPECT_EQ(last_command("O=\"--dir <A B> --fp16\"\nsh -c \"run $O\""), "run|--dir|<A B>|--fp16");
  EXPECT_EQ(last_command("run <Input >Output a"), "run|a");
}

}  // namespace
}  // namespace headway
