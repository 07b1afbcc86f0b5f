import type { Mutant } from "./Mutant.ts"

const inputText = "test/src/cli/remote/InputText.test.ts"
const remote = "test/src/cli/remote/Remote.test.ts"
const planText = "test/src/cli/remote/PlanText.test.ts"
const session = "test/e2e/TerminalSession.test.ts"
const approval = "test/e2e/TerminalApproval.test.ts"
const decisionFile = "src/cli/remote/DecisionCommands.ts"

/** Mutants of the terminal: the approved plan, the displayed text, and the server that receives the token. */
export const terminalMutants: ReadonlyArray<Mutant> = [
  {
    name: "terminal: only what is safe is repeated",
    file: "src/client/SafeRepeat.ts",
    text: "return isSafe(request) ? attempted(0) : once",
    broken: "return attempted(0)",
    test: "test/src/client/SafeRepeat.test.ts"
  },
  {
    name: "terminal: a token that nobody could read is revoked",
    file: "src/cli/login/TokenCommands.ts",
    text: 'print(given.json, made, made.token), "token", revoke)',
    broken: 'print(given.json, made, made.token), "token", Effect.void)',
    test: session
  },
  {
    name: "terminal: output that cannot be written is a failure",
    file: "src/cli/ProcessConsole.ts",
    text: "throw new OutputFailed({",
    broken: "void new OutputFailed({",
    test: "test/src/cli/ProcessConsole.test.ts"
  },
  {
    name: "terminal: the token of a login is read again for each request",
    file: "src/cli/remote/Remote.ts",
    text: "const current = Effect.provideService(currentToken(origin), StoredLogins, logins)",
    broken: "const current = yield* Effect.cached(Effect.provideService(currentToken(origin), StoredLogins, logins))",
    test: remote
  },
  {
    name: "terminal: a session of one command ends with it",
    file: "src/cli/session/PersonSession.ts",
    text: "(session) => signOut(origin, session)",
    broken: "() => Effect.void",
    test: session
  },
  {
    name: "terminal: a wrong password is said as one",
    file: "src/cli/session/SignIn.ts",
    text: 'const code = refused.code === "unauthenticated" ? "sign_in_refused" : refused.code',
    broken: "const code = refused.code",
    test: session
  },
  {
    name: "terminal: an export never replaces a file, and is for one person",
    file: "src/cli/remote/CapsuleExportCommand.ts",
    text: '{ flag: "wx", mode: 0o600 }',
    broken: "{}",
    test: "test/e2e/Terminal.test.ts"
  },
  {
    name: "completion: a name from a server is no code for the shell",
    file: "src/cli/completion/CompletionCommand.ts",
    text: 'COMPREPLY+=("$(printf %q "$word")")',
    broken: 'COMPREPLY+=("$word")',
    test: "test/e2e/Completion.test.ts"
  },
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
    text: "{ planDigest: digest.value, acknowledged: acknowledge }",
    broken: "{ planDigest: run.planDigest, acknowledged: acknowledge }",
    test: approval
  },
  {
    name: "terminal: destruction is confirmed by name",
    file: decisionFile,
    text: "return isTypedName(typed, name)",
    broken: 'return isTypedName(typed, name) || typed !== ""',
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
    name: "terminal: results spell out invisible characters",
    file: "src/cli/Output.ts",
    text: "printLine(visibleText(text))",
    broken: "printLine(text)",
    test: "test/src/cli/VisibleOutput.test.ts"
  },
  {
    name: "names: something of them is visible",
    file: "schema/records/Primitives.ts",
    text: 'Schema.isPattern(visibleCharacter, { description: "text that is visible" })',
    broken: 'Schema.isPattern(/[^]/u, { description: "text that is visible" })',
    test: "test/schema/api/VisibleNames.test.ts"
  },
  {
    name: "dashboard: text of elements is spelled out",
    file: "src/dashboard/jsx/VisibleElements.ts",
    text: 'if (typeof child === "string") return visibleText(child)',
    broken: 'if (typeof child === "string") return child',
    test: "test/dashboard/VisibleElements.test.ts"
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
  },
  {
    name: "terminal: a number in --var-file that would be rounded is refused",
    file: "src/cli/variables/VariableFlags.ts",
    text: '    yield* refuseRoundedNumbers("--var-file", text)\n',
    broken: "",
    test: inputText
  },
  {
    name: "terminal: a number in --input that would be rounded is refused",
    file: "src/cli/remote/ApiCommand.ts",
    text: "  yield* refuseRoundedNumbers(`--input ${file}`, text)\n",
    broken: "",
    test: inputText
  },
  {
    name: "terminal: a sensitive value is no argument",
    file: "src/cli/variables/VariableFlags.ts",
    text: "if (!variable.sensitive) return given.value",
    broken: "return given.value",
    test: "test/e2e/TerminalConfiguration.test.ts"
  },
  {
    name: "terminal: what cannot be undone is confirmed",
    file: "src/cli/remote/Confirmation.ts",
    text: "if (yes) return\n",
    broken: "return\n",
    test: "test/e2e/TerminalVerbs.test.ts"
  },
  {
    name: "terminal: a value that the tool would compute is never guessed",
    file: "src/cli/variables/VariableFile.ts",
    text: "if (this.#isAt(`${sign}{`)) this.#refuse(computed)",
    broken: "",
    test: "test/src/cli/variables/VariableFile.test.ts"
  },
  {
    name: "terminal: a plan with changes does not end like one without",
    file: "src/cli/remote/RunEnd.ts",
    text: 'if (run.status === "waiting_approval" && !hasDecision(run)) return\n',
    broken: 'if (run.status === "waiting_approval") return\n',
    test: "test/e2e/TerminalConfiguration.test.ts"
  },
  {
    name: "terminal: only a plan without changes is discarded",
    file: "src/cli/remote/PlanCommands.ts",
    text: 'if (discardIfEmpty && ended.status === "waiting_approval" && !hasDecision(ended))',
    broken: 'if (discardIfEmpty && ended.status === "waiting_approval")',
    test: "test/e2e/TerminalConfiguration.test.ts"
  },
  {
    name: "terminal: a plan that was discarded is not approved",
    file: "src/cli/remote/RunCommands.ts",
    text: "if (!isApproved) return",
    broken: "if (ended.startedAt === undefined) return",
    test: "test/e2e/TerminalConfiguration.test.ts"
  }
]
