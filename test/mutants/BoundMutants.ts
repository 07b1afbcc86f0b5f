import type { Mutant } from "./Mutant.ts"

const documents = "test/runner/document/Documents.test.ts"
const receipt = "test/actors/commands/adoption/StateReceipt.test.ts"
const everyRoute = "test/src/http/EveryRoute.test.ts"
const packs = "test/runner/git/PackBounds.test.ts"
const documentsFile = "runner/document/Documents.ts"

/** Mutants of the size limits for data from anonymous clients, people and agents. */
export const boundMutants: ReadonlyArray<Mutant> = [
  {
    name: "bounds: requests that begin in one turn of the main thread",
    file: "src/http/RequestTurns.ts",
    text: "now() - begun > mostNanos",
    broken: "now() - begun < 0n",
    test: "test/src/http/RequestTurns.test.ts"
  },
  {
    name: "bounds: a left-over state is read before the transaction",
    file: "actors/ledger/state/OrphanedStates.ts",
    text: `, outsideTransaction("A left-over state is read"))`,
    broken: ")",
    test: "test/actors/ledger/state/OrphanedStates.test.ts"
  },
  {
    name: "what was saved of an apply while it was read",
    file: "actors/running/execution/ApplySettlement.ts",
    text: "(yield* checkpoints.stored(runId)) !== read.stored",
    broken: "(yield* checkpoints.stored(runId)) === null",
    test: "test/actors/running/execution/Settlements.test.ts"
  },
  {
    name: "bounds: no body is too long for the main thread",
    file: "src/http-kit/RequestBody.ts",
    text: "  maxBytes: longestReadHere,",
    broken: "  maxBytes: 8 * longestReadHere,",
    test: "test/src/http/CommonHeaders.test.ts"
  },
  {
    name: "bounds: an installation is measured again after its end",
    file: "runner/sandbox/limits/RunLimits.ts",
    text: "        if (!program.isInstallation) return undefined\n",
    broken: "        if (program.pid > 0) return undefined\n",
    test: "test/runner/sandbox/limits/RunLimits.test.ts"
  },
  {
    name: "bounds: an installation above the limit fails although it succeeded",
    file: "runner/execution/ToolRun.ts",
    text: `isSuccess && exceeded?.code !== "folder_limit" ?`,
    broken: "isSuccess ?",
    test: "test/runner/execution/RunProviders.test.ts"
  },
  {
    name: "bounds: files without contents on the disk",
    file: "runner/sandbox/limits/FolderSize.ts",
    text: "kibibytes * 1024 + files * bytesOfFile",
    broken: "kibibytes * 1024",
    test: "test/runner/sandbox/limits/RunLimits.test.ts"
  },
  {
    name: "bounds: no file of a Run is longer than its folder may be",
    file: "runner/sandbox/InstalledProgram.ts",
    text: "Math.min(wanted.fileBytes, wanted.folderBytes, ",
    broken: "Math.min(wanted.fileBytes, ",
    test: "test/runner/execution/RunProviders.test.ts"
  },
  {
    name: "bounds: different hand-ins of a Run",
    file: "actors/running/agent/AgentEvidence.ts",
    text: "earlier.length >= mostHandIns",
    broken: "earlier.length < 0",
    test: "test/src/http/agent/HandIns.test.ts"
  },
  {
    name: "bounds: requests that wait begin in turn by address",
    file: "src/http/RequestTurns.ts",
    text: "        waiting.delete(address)\n",
    broken: "        if (requests.length === 0) waiting.delete(address)\n",
    test: "test/src/http/RequestTurns.test.ts"
  },
  {
    name: "bounds: long documents in another thread",
    file: documentsFile,
    text: "if (bytes.length <= longestReadHere ||",
    broken: "if (bytes.length >= 0 ||",
    test: documents
  },
  {
    name: "bounds: nothing slow in a transaction",
    file: "src/database/SqliteClient.ts",
    text: "sql.withTransaction(Effect.provideService(effect, TransactionKey, transactionService))",
    broken: "sql.withTransaction(effect)",
    test: "test/runner/thread/OutsideTransaction.test.ts"
  },
  {
    name: "bounds: the left-over state that was read",
    file: "actors/commands/capsule/OrphanedStateAdoption.ts",
    text: "if (found === undefined || found.digest !== row.digest)",
    broken: "if (found === undefined)",
    test: "test/actors/commands/capsule/OrphanedStateAdoption.test.ts"
  },
  {
    name: "bounds: long messages in another thread",
    file: "src/http/agent/AgentRoutes.ts",
    text: "return yield* withMessage(message, answer)",
    broken: "return yield* withMessage(JSON.parse(new TextDecoder().decode(body)), answer)",
    test: "test/src/http/agent/AgentGuards.test.ts"
  },
  {
    name: "bounds: the scan before the parser",
    file: "runner/document/DocumentReadings.ts",
    text: "  isWholeState(bytes)\n",
    broken: "  bytes.length > 0\n",
    test: documents
  },
  {
    name: "bounds: values of an uploaded state",
    file: "actors/commands/adoption/AdoptableState.ts",
    text: "scanState(bytes, mostValues)",
    broken: "scanState(bytes)",
    test: receipt
  },
  {
    name: "bounds: contents of a message from an agent",
    file: "actors/running/agent/AgentBlobs.ts",
    text: "mostUnpackedFrom(sealedBytes, mostUnpacked[kind])",
    broken: "mostUnpacked[kind]",
    test: "test/src/http/agent/HandIns.test.ts"
  },
  {
    name: "bounds: the window of a frame",
    file: "runner/agent/BlobContents.ts",
    text: "createZstdDecompress({ chunkSize: unpackedAtOnce, params: longestWindow })",
    broken: "createZstdDecompress({ chunkSize: unpackedAtOnce })",
    test: "test/runner/agent/BlobContents.test.ts"
  },
  {
    name: "bounds: an object of a pack",
    file: "runner/git/PackBounds.ts",
    text: "if (entry.size > bounds.objectBytes) return objectTooLarge(bounds.objectBytes)",
    broken: "",
    test: packs
  },
  {
    name: "bounds: what a delta of a pack rebuilds",
    file: "runner/git/PackBounds.ts",
    text: "total += inflated.bytes + rebuilt",
    broken: "total += inflated.bytes",
    test: packs
  },
  {
    name: "bounds: deltas that build on each other",
    file: "runner/git/PackBounds.ts",
    text: "depth > bounds.deltaDepth",
    broken: "depth < 0",
    test: packs
  },
  {
    name: "bounds: what the installed git allocates",
    file: "runner/git/NativeGit.ts",
    text: "    ...allocationLimit(objectBytes),\n",
    broken: "",
    test: packs
  },
  {
    name: "bounds: a part of a snapshot",
    file: "runner/snapshot/SeekableFrames.ts",
    text: "maxOutputLength: Math.max(frame.bytes, 1),",
    broken: "maxOutputLength: 2 ** 31,",
    test: "test/runner/snapshot/SeekableFrames.test.ts"
  },
  {
    name: "bounds: one message in a request of an agent",
    file: "src/http/agent/AgentRoutes.ts",
    text: "if (!isOneMessage(body)) return yield* notOneMessage",
    broken: "",
    test: everyRoute
  },
  {
    name: "bounds: a message without a session",
    file: "src/http/agent/AgentRoutes.ts",
    text: ": readBodyBytes(mostStrangerBytes)",
    broken: ": readBodyBytes(mostCommandBytes)",
    test: everyRoute
  },
  {
    name: "bounds: agents without a session by address",
    file: "src/http/agent/AgentRoutes.ts",
    text: 'if (!isKnown) yield* limits.consume("agent", { address: remoteAddress })',
    broken: "",
    test: everyRoute
  },
  {
    name: "bounds: deliveries to a Source at once",
    file: "src/http/SourceHooks.ts",
    text: "if (others >= mostDeliveries) return Effect.fail(busy)",
    broken: "",
    test: everyRoute
  },
  {
    name: "bounds: the deadline of a body that is hashed",
    file: "src/http-kit/RequestBody.ts",
    text: "Stream.interruptWhen(Effect.andThen(Effect.sleep(bodyDeadline), tooSlow(bodyDeadline))),",
    broken: "",
    test: everyRoute
  },
  {
    name: "bounds: the length of a body that is hashed",
    file: "src/http-kit/RequestBody.ts",
    text: "return length > maxBytes ? Effect.fail(tooLarge(maxBytes)) : Effect.succeed(bytes)",
    broken: "return Effect.succeed(bytes)",
    test: everyRoute
  },
  {
    name: "requests: a number in a body that would be rounded is refused",
    file: "src/http-kit/RequestBody.ts",
    text: "  exactNumbers: true\n",
    broken: "  exactNumbers: false\n",
    test: "test/src/http/RawRequests.test.ts"
  },
  {
    name: "policy file: a number that would be rounded is refused",
    file: "src/composition/OperatorPolicyFile.ts",
    text: "  exactNumbers: true\n",
    broken: "  exactNumbers: false\n",
    test: "test/src/cli/Policy.test.ts"
  },
  {
    name: "JSON: a short number with an exponent is compared with what a double holds",
    file: "schema/json/JsonScanner.ts",
    text: "(this.#at - start >= 16 || exponentDigits > 0)",
    broken: "this.#at - start >= 16",
    test: "test/schema/json/JsonDocument.test.ts"
  }
]
