import { Console, Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { candidatesCommandName } from "../ClientCommandNames.ts"
import { printLine } from "../Output.ts"
import { terminalText } from "../remote/TerminalText.ts"
import { candidates } from "./Candidates.ts"

// Each script quotes the names, because they come from a server and the shell must never execute them.
const scripts = {
  bash: `# Completion of svc in bash: source <(svc completion bash)
_svc() {
  local word rest
  COMPREPLY=()
  while IFS=$'\\t' read -r word rest; do
    COMPREPLY+=("$(printf %q "$word")")
  done < <("\${COMP_WORDS[0]}" ${candidatesCommandName} -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _svc svc`,
  zsh: `#compdef svc
# Completion of svc in zsh: source <(svc completion zsh)
_svc() {
  local line
  local -a found
  while IFS= read -r line; do
    found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done < <("\${words[1]}" ${candidatesCommandName} -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null)
  if (( $#found )); then _describe -V svc found; else _files; fi
}
if [ "$funcstack[1]" = _svc ]; then _svc "$@"; else compdef _svc svc; fi`,
  fish: `# Completion of svc in fish: svc completion fish | source
function __svc_complete
    set -l words (commandline -opc)
    set -l typed (commandline -ct)
    set -l found ($words[1] ${candidatesCommandName} -- $words[2..] "$typed" 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\\n' $found
    else
        __fish_complete_path "$typed"
    end
end
complete -c svc -f -a '(__svc_complete)'`
} as const

const shells = ["bash", "zsh", "fish"] as const

export const completionCommand = Command.make(
  "completion",
  { shell: Argument.Literals("shell", shells).pipe(Argument.withDescription("The shell")) },
  ({ shell }) => printLine(scripts[shell])
).pipe(
  Command.withDescription("Print a shell script that completes commands, flags and names"),
  Command.withExamples([
    { command: "source <(svc completion bash)", description: "In ~/.bashrc" },
    { command: "source <(svc completion zsh)", description: "In ~/.zshrc, after compinit" },
    { command: "svc completion fish | source", description: "In ~/.config/fish/config.fish" }
  ])
)

/** Removes the shell's quoting from a word. */
const unquoted = (word: string) => word.replace(/^["']/, "").replaceAll(/\\(.)/g, "$1")

const isPlain = (word: string) => word !== "" && word === terminalText(word) && !/[\t\n]/.test(word)

/** Prints one candidate per line. On an error, prints nothing, because the person is still typing. */
export const candidatesCommand = Command.make(
  candidatesCommandName,
  { words: Argument.String("words").pipe(Argument.variadic()) },
  ({ words }) =>
    candidates([...words.slice(0, -1), unquoted(words.at(-1) ?? "")]).pipe(
      Effect.flatMap((found) =>
        Effect.forEach(
          found.filter(({ word }) => isPlain(word)),
          ({ description, word }) => Console.log(`${word}\t${terminalText(description).replaceAll("\t", " ")}`),
          { discard: true }
        )
      ),
      // Give up quickly: the person is typing and waiting for the result.
      Effect.timeoutOption("3 seconds"),
      Effect.catchCause(() => Effect.void)
    )
).pipe(Command.unlisted)
