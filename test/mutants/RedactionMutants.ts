import type { Mutant } from "./Mutant.ts"

const redactionLines = "test/runner/redaction/Lines.test.ts"
const serverPaths = "test/runner/execution/ServerPaths.test.ts"
const provisionerOutput = "test/runner/execution/ProvisionerOutput.test.ts"

/** Mutants of the redaction of secrets that are truncated, wrapped or joined. */
export const redactionMutants: ReadonlyArray<Mutant> = [
  {
    name: "redaction: messages of conditions in a plan",
    file: "runner/execution/PlanProjection.ts",
    text: "hide.message(message, instance.address.to_display)",
    broken: "message",
    test: "test/runner/execution/PlanProjection.test.ts"
  },
  {
    name: "redaction: a line that shows six characters of a secret waits",
    file: "runner/redaction/RedactionStream.ts",
    text: "Math.min(this.#scanner.held(), lineStart)",
    broken: "lineStart",
    test: redactionLines
  },
  {
    name: "redaction: what waits is hidden when the text ends",
    file: "runner/redaction/RedactionStream.ts",
    text: "if (brokenOff) this.#hideHeld()",
    broken: "",
    test: redactionLines
  },
  {
    name: "redaction: what waits is hidden beyond the bound",
    file: "runner/redaction/RedactionStream.ts",
    text: "    this.#hideHeld()\n    return end",
    broken: "    return end",
    test: redactionLines
  },
  {
    name: "redaction: lines are read on over their breaks",
    file: "runner/redaction/TextScanner.ts",
    text: "if (!this.#isJoined && open < position)",
    broken: "if (position < 0)",
    test: redactionLines
  },
  {
    name: "redaction: dumps are read by their columns",
    file: "runner/redaction/TextScanner.ts",
    text: `    this.#dump.line(`,
    broken: `    if (first.position < 0) this.#dump.line(`,
    test: redactionLines
  },
  {
    name: "redaction: a provisioner is one text over its messages",
    file: "runner/execution/ToolRun.ts",
    text: "key: provisionerKey(message.address, message.provisioner), text",
    broken: "key: Math.random().toString(), text",
    test: provisionerOutput
  },
  {
    name: "shown declaration: the default of a secret input",
    file: "actors/ledger/source/VariableView.ts",
    text: "defaultJson: secret ? undefined : ",
    broken: "defaultJson: ",
    test: "test/actors/ledger/source/VariableView.test.ts"
  },
  {
    name: "paths: those of this machine are not in the log",
    file: "runner/execution/ServerPaths.ts",
    text: "sink.log(phase, stream, paths.shown(text))",
    broken: "sink.log(phase, stream, text)",
    test: serverPaths
  },
  {
    name: "paths: those of this machine are not in a diagnostic",
    file: "runner/execution/RunReport.ts",
    text: "part: (parts, index) => shown(hide.part(parts, index))",
    broken: "part: hide.part",
    test: serverPaths
  },
  {
    name: "paths: those of this machine are not in a failure",
    file: "runner/execution/ServerPaths.ts",
    text: "failure.phase, paths.shown(failure.message)",
    broken: "failure.phase, failure.message",
    test: serverPaths
  },
  {
    name: "addresses: a secret instance key has one form",
    file: "runner/redaction/Redactor.ts",
    text: "shown === key || this.#addressKey === undefined",
    broken: "this.#addressKey !== undefined || shown === key",
    test: "test/runner/redaction/InstanceKeys.test.ts"
  },
  {
    name: "addresses: a key as the tool quotes it",
    file: "runner/redaction/InstanceKeys.ts",
    text: '.replaceAll(/([$%])\\1\\{/g, "$1{")',
    broken: "",
    test: "test/runner/redaction/InstanceKeys.test.ts"
  },
  {
    name: "addresses: what was created under a hidden key",
    file: "runner/execution/ApplyJournal.ts",
    text: "object.address === form(address)",
    broken: "object.address === address",
    test: "test/runner/execution/ApplyJournal.test.ts"
  },
  {
    name: "addresses: a recovery with the key takes back what it suspected without",
    file: "runner/execution/ApplyJournal.ts",
    text: "open.has(address) || lost.has(address) || !created.has(address)",
    broken: "open.has(address) || !created.has(address)",
    test: "test/runner/execution/ApplyJournal.test.ts"
  }
]
