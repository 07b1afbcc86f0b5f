import type { Mutant } from "./Mutant.ts"

const remote = "test/src/cli/remote/Remote.test.ts"
const planText = "test/src/cli/remote/PlanText.test.ts"
const approval = "test/e2e/TerminalApproval.test.ts"
const decisionFile = "src/cli/remote/DecisionCommands.ts"

/** What a person at a terminal approves, what the screen shows, and where their token goes. */
export const terminalMutants: ReadonlyArray<Mutant> = [
  {
    name: "terminal: nobody is asked without a terminal",
    file: decisionFile,
    text: "if (json || !canPrompt) return yield* digestUnnamed(run)",
    broken: "if (json || !canPrompt) return run.planDigest",
    test: approval
  },
  {
    name: "terminal: the digest that was named",
    file: decisionFile,
    text: "if (Option.isSome(named)) return named.value",
    broken: "if (Option.isSome(named)) return run.planDigest",
    test: approval
  },
  {
    name: "terminal: destruction is confirmed by name",
    file: decisionFile,
    text: "return typed.trim() === name",
    broken: 'return typed.trim() !== ""',
    test: approval
  },
  {
    name: "terminal: text of others moves no cursor",
    file: "src/cli/remote/TerminalText.ts",
    text: 'visibleText(stripVTControlCharacters(text).replaceAll(controls, " "))',
    broken: "visibleText(text)",
    test: planText
  },
  {
    name: "terminal: the token stays with its server",
    file: "src/cli/remote/ApiCommand.ts",
    text: "return url?.origin === origin",
    broken: "return url !== undefined",
    test: remote
  },
  {
    name: "terminal: the Workspace of a context belongs to its server",
    file: "src/cli/remote/Remote.ts",
    text: "value.server === origin ? Option.fromUndefinedOr(value.workspace) : Option.none()",
    broken: "Option.fromUndefinedOr(value.workspace)",
    test: remote
  }
]
