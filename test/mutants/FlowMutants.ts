import type { Mutant } from "./Mutant.ts"

const follow = "test/actors/commands/capsule/FollowLane.test.ts"
const pins = "test/actors/ledger/capsule/AutoUpdatePins.test.ts"
const lanes = "test/actors/ledger/source/SourceLanes.test.ts"
const moduleChange = "test/runner/scan/ModuleChange.test.ts"
const firstSync = "test/actors/commands/source/FirstSync.test.ts"
const waves = "test/actors/running/run-group/WaveDecision.test.ts"
const queue = "test/actors/running/queue/QueueDecision.test.ts"
const requirements = "test/runner/sandbox/RunRequirements.test.ts"
const providers = "test/runner/execution/RunProviders.test.ts"
const followFile = "actors/commands/capsule/LaneFollowing.ts"
const pinsFile = "actors/ledger/capsule/AutoUpdatePins.ts"
const lanesFile = "actors/ledger/source/SourceLanes.ts"
const wavesFile = "actors/running/run-group/WaveDecision.ts"
const queueFile = "actors/running/queue/QueueDecision.ts"
const requirementsFile = "runner/sandbox/RunRequirements.ts"

/** Mutants of the order and the conditions of automatic work. */
export const flowMutants: ReadonlyArray<Mutant> = [
  {
    name: "actor: one command of a record at a time",
    file: "actors/Actor.ts",
    text: "mailbox.waiting.push(entry)\n      return",
    broken: "mailbox.waiting.push(entry)",
    test: "test/actors/Actor.test.ts"
  },
  {
    name: "actor: a command that waits leaves with its caller",
    file: "actors/Actor.ts",
    text: "if (index >= 0) waiting.splice(index, 1)",
    broken: "if (index < 0) waiting.splice(index, 1)",
    test: "test/actors/ActorModel.test.ts"
  },
  {
    name: "actor: a mailbox is removed when it is empty",
    file: "actors/Actor.ts",
    text: "if (mailbox.current === undefined) mailboxes.delete(id)",
    broken: "",
    test: "test/actors/ActorModel.test.ts"
  },
  {
    name: "actor: no command from inside a transaction",
    file: "actors/Actor.ts",
    text: ".pipe(outsideTransaction(`A command to the ${type} ${id}`))",
    broken: "",
    test: "test/actors/Actor.test.ts"
  },
  {
    name: "actor: the end of the actors answers commands that wait",
    file: "actors/Actor.ts",
    text: "for (const { stop } of waiting.splice(0)) stop()",
    broken: "waiting.splice(0)",
    test: "test/actors/Actor.test.ts"
  },
  {
    name: "actor: a bounded number of commands waits",
    file: "actors/Actor.ts",
    text: ">= mostWaiting)",
    broken: "< 0)",
    test: "test/actors/Actor.test.ts"
  },
  {
    name: "due work: a failing record backs off",
    file: "actors/base/DueWork.ts",
    text: "const until = troubles.get(due.key)?.until ?? at",
    broken: "const until = at",
    test: "test/actors/base/DueWork.test.ts"
  },
  {
    name: "due work: a step is not begun twice",
    file: "actors/base/DueWork.ts",
    text: "if (taken.has(due.key)) taken.set(due.key, true)\n      else if (until > at)",
    broken: "if (until > at)",
    test: "test/actors/base/DueWork.test.ts"
  },
  {
    name: "due work: a mark set during the step",
    file: "actors/base/DueWork.ts",
    text: "return isAskedAgain || troubles.has(due.key)",
    broken: "return troubles.has(due.key)",
    test: "test/actors/base/DueWork.test.ts"
  },
  {
    name: "actor: a command does not run in its caller's context",
    file: "actors/Actor.ts",
    text: "Context.add(admitted, Tracer.ParentSpan, span)",
    broken: "Context.merge(actor, caller)",
    test: "test/actors/Actor.test.ts"
  },
  {
    name: "first sync: a later reading of a Source that nobody has read",
    file: "actors/commands/source/SyncRequest.ts",
    text: "request.removeUnread === true || (yield* wasForReading(row))",
    broken: "request.removeUnread === true",
    test: firstSync
  },
  {
    name: "first sync: a reading of the same Source that is under way",
    file: "actors/commands/source/SourceActor.ts",
    text: "(yield* openRun(id)) !== undefined || ",
    broken: "",
    test: firstSync
  },
  {
    name: "lane: a look from before the date was corrected",
    file: lanesFile,
    text: "before.last_look_at <= at",
    broken: "true",
    test: lanes
  },
  {
    name: "lane: the next look after the date was corrected",
    file: lanesFile,
    text: "OR l.next_look_at > ${latest}",
    broken: "OR 1 = 0",
    test: lanes
  },
  {
    name: "lane: who opted in",
    file: followFile,
    text: "capsule.auto_update_enabled !== 1 || ",
    broken: "",
    test: follow
  },
  {
    name: "lane: ended Capsules",
    file: followFile,
    text: " || isEnded(capsule.status) ||",
    broken: " ||",
    test: follow
  },
  {
    name: "lane: its own ref",
    file: followFile,
    text: "capsule.adopted_ref === row.ref && ",
    broken: "",
    test: follow
  },
  {
    name: "lane: its own path",
    file: followFile,
    text: " && capsule.adopted_path === row.path",
    broken: "",
    test: follow
  },
  {
    name: "lane: where it stands",
    file: followFile,
    text: "lane?.resolved_commit !== snapshot.resolved_commit",
    broken: "lane === undefined",
    test: follow
  },
  {
    name: "lane: what is applied",
    file: followFile,
    text: "snapshot.resolved_commit === capsule.adopted_commit",
    broken: "snapshot.id === capsule.id",
    test: follow
  },
  {
    name: "lane: a Capsule that is ready",
    file: followFile,
    text: `capsule.status !== "stale" || !isBehind`,
    broken: "!isBehind",
    test: follow
  },
  {
    name: "lane: behind by a commit",
    file: followFile,
    text: `capsule.status !== "stale" || !isBehind`,
    broken: `capsule.status !== "stale"`,
    test: follow
  },
  {
    name: "lane: pins",
    file: followFile,
    text: "if (isPinned(capsule))",
    broken: "if (capsule.id === snapshot.id)",
    test: follow
  },
  {
    name: "lane: paths that a commit does not touch",
    file: followFile,
    text: "capsule.path_filter === 1 && isCurrent && !isBehind",
    broken: "capsule.path_filter === 2 && isCurrent && !isBehind",
    test: follow
  },
  {
    name: "pin: ends with another commit",
    file: pinsFile,
    text: " && capsule.pinned_commit !== commit",
    broken: "",
    test: pins
  },
  {
    name: "pin: ends only where that was chosen",
    file: pinsFile,
    text: "capsule.pin_ends_on_commit === 1 && ",
    broken: "",
    test: pins
  },
  {
    name: "pin: of rollbacks",
    file: pinsFile,
    text: `apply.purpose !== "rollback" || `,
    broken: "",
    test: pins
  },
  {
    name: "path filter: files of the module",
    file: "runner/scan/ModuleChange.ts",
    text: "if (isPartOf(newer.footprint, file) || isPartOf(applied.footprint, file))",
    broken: "if (file === applied.manifest)",
    test: moduleChange
  },
  {
    name: "omitted entries: what the module may read",
    file: "runner/scan/ModuleFootprint.ts",
    text: "isBelow(path, read) || isBelow(read, path)",
    broken: "path === read",
    test: "test/runner/scan/ModuleFootprint.test.ts"
  },
  {
    name: "omitted entries: a module that computes what it reads",
    file: "runner/scan/ModuleFootprint.ts",
    text: 'footprint.kind === "unknown" ? foldersOf(yield* scansOf(tree, modulePath)) : footprint.paths',
    broken: 'footprint.kind === "unknown" ? [] : footprint.paths',
    test: "test/runner/scan/ModuleFootprint.test.ts"
  },
  {
    name: "scan: the files that the tool reads",
    file: "runner/scan/ConfigFileName.ts",
    text: 'tool === "terraform" ? found',
    broken: 'tool === "opentofu" ? found',
    test: "test/runner/scan/ModuleScanner.test.ts"
  },
  {
    name: "scan: bytes that are not text outside of comments",
    file: "runner/scan/ConfigText.ts",
    text: "return line === undefined",
    broken: "return line !== -1",
    test: "test/runner/scan/StrictConfiguration.test.ts"
  },
  {
    name: "refs: invisible characters",
    file: "schema/git/RefName.ts",
    text: "\\p{Default_Ignorable_Code_Point}",
    broken: "",
    test: "test/schema/git/GitGrammar.test.ts"
  },
  {
    name: "fetch: a server that asks to wait is asked once more at most",
    file: "runner/git/GitTransport.ts",
    text: "waited || !asksToWait(status)",
    broken: "!asksToWait(status)",
    test: "test/runner/git/HostileServers.test.ts"
  },
  {
    name: "path filter: an unknown manifest",
    file: "runner/scan/ModuleChange.ts",
    text: "applied.manifest === null || ",
    broken: "",
    test: moduleChange
  },
  {
    name: "schedule: Sources that follow automatically",
    file: lanesFile,
    text: "s.auto_sync = 1 AND ",
    broken: "",
    test: lanes
  },
  {
    name: "schedule: disabled Sources",
    file: lanesFile,
    text: "AND s.status <> 'disabled' AND (COALESCE(l.next_look_at",
    broken: "AND (COALESCE(l.next_look_at",
    test: lanes
  },
  {
    name: "schedule: when a lane is due",
    file: lanesFile,
    text: "(COALESCE(l.next_look_at, '') <= ${at}",
    broken: "(1 = 1",
    test: lanes
  },
  {
    name: "schedule: since when a lane fails",
    file: lanesFile,
    text: "error_since: before?.error_since ?? lookedAt",
    broken: "error_since: lookedAt",
    test: lanes
  },
  {
    name: "schedule: an error that was told",
    file: lanesFile,
    text: "return before?.error_code !== code",
    broken: "return true",
    test: lanes
  },
  {
    name: "schedule: a failing lane that healed",
    file: lanesFile,
    text: "            error_code: null,\n",
    broken: "",
    test: lanes
  },
  {
    name: "waves: producers first",
    file: wavesFile,
    text: "if (open.length > 0)",
    broken: "if (open.length > 9)",
    test: waves
  },
  {
    name: "waves: a producer that failed",
    file: wavesFile,
    text: `standing === "applied" || standing === "left_out"`,
    broken: `standing === "applied" || standing === "left_out" || standing === "failed"`,
    test: waves
  },
  {
    name: "waves: only what is behind",
    file: wavesFile,
    text: `isBehind ? "plan" : "leave_out"`,
    broken: `"plan"`,
    test: waves
  },
  {
    name: "waves: one after the last producer",
    file: wavesFile,
    text: "1 + Math.max(0, ...before.map(waveOf))",
    broken: "1 + Math.min(0, ...before.map(waveOf))",
    test: waves
  },
  {
    name: "queue: one Run of a Capsule",
    file: queueFile,
    text: "state.queued.filter(({ id }) => !busy.has(id))",
    broken: "state.queued",
    test: queue
  },
  {
    name: "queue: places of a Workspace",
    file: queueFile,
    text: "if (own.length >= perWorkspace) return",
    broken: "if (own.length > perWorkspace) return",
    test: queue
  },
  {
    name: "queue: places of the pool",
    file: queueFile,
    text: "if (inPool.length >= places) return",
    broken: "if (inPool.length > places) return",
    test: queue
  },
  {
    name: "queue: Workspaces take turns",
    file: queueFile,
    text: "inTurns(lines, ({ workspaceTurn }) => workspaceTurn)",
    broken: "inTurns(lines, () => 0)",
    test: queue
  },
  {
    name: "queue: people take turns",
    file: queueFile,
    text: "inTurns(people.values(), ({ subjectTurn }) => subjectTurn)",
    broken: "inTurns(people.values(), () => 0)",
    test: queue
  },
  {
    name: "queue: drift checks come last",
    file: queueFile,
    text: "for (const comesLast of [false, true])",
    broken: "for (const comesLast of [true, false])",
    test: queue
  },
  {
    name: "sandbox: the level that a profile requires",
    file: requirementsFile,
    text: "rank(status.level) > rank(isolation)",
    broken: "rank(status.level) < rank(isolation)",
    test: requirements
  },
  {
    name: "sandbox: a network of its own",
    file: requirementsFile,
    text: `network === "isolated" && networkStatus.reach !== "isolated"`,
    broken: `network === "isolated" && networkStatus.reach === "isolated"`,
    test: requirements
  },
  {
    name: "sandbox: limits are only lowered",
    file: requirementsFile,
    text: "Math.min(limits[name], asked[name] ?? limits[name])",
    broken: "asked[name] ?? limits[name]",
    test: requirements
  },
  {
    name: "sandbox: only places with a size are writable",
    file: "runner/sandbox/levels/Bubblewrap.ts",
    text: `["/", "/dev"].flatMap`,
    broken: `["/dev"].flatMap`,
    test: "test/runner/sandbox/SandboxAttack.test.ts"
  },
  {
    name: "providers: only what the Workspace has installed",
    file: "runner/execution/ProviderStore.ts",
    text: `!(yield* is(join(own, name), "isFile"))`,
    broken: "false",
    test: providers
  },
  {
    name: "providers: no file that the Run can still change",
    file: "runner/execution/ProviderStore.ts",
    text: "!entry.isFile() || (await stat(path)).nlink !== 1",
    broken: "!entry.isFile()",
    test: providers
  },
  {
    name: "providers: the mirror is seen by the installation alone",
    file: "runner/execution/RunSession.ts",
    text: "isInstall && mirror !== undefined",
    broken: "mirror !== undefined",
    test: providers
  }
]
