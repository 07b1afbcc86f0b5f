import { readdirSync } from "node:fs"
import { Effect, FileSystem, Redacted, Schedule } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { serveRepository } from "../../src/testing/git-server/GitServer.ts"
import { commitFiles, createRepository } from "../../src/testing/git-server/RepositoryWriter.ts"
import type { Run } from "../../schema/records/Run.ts"
import { nothingAcknowledged, readEvents } from "./Acknowledged.ts"
import { sweep } from "./CanarySweep.ts"
import { Broken, brokenBy, crashClient, holds } from "./CrashClient.ts"
import { crashHost } from "./CrashHost.ts"
import { checkedOutput, checkPolicy, crashModule, slowNote } from "./CrashModule.ts"
import { canaries, type CrashWorld } from "./CrashWorld.ts"
import { hunt, spoil, strike } from "./Disturbance.ts"
import { holdNote, holdOrigin } from "./Hold.ts"
import { travel } from "./Journey.ts"
import { chainModules } from "./UpdateJourney.ts"
import { readCloud, readLedger } from "./Ledger.ts"
import { mayFail, type Scenario } from "./Scenario.ts"
import { smallDisk } from "../support/SmallDisk.ts"
import { uncheckedSuccesses, untruths } from "./Truth.ts"
import { survivors } from "./Victims.ts"

/** Time for the last kill after the end of a journey. */
const killedWithin = "20 seconds"

/** Returns all secrets that must never appear in plain text. */
const secretsOf = (world: CrashWorld) => [...Object.values(canaries), Redacted.value(world.token)]

const copyFolder = Effect.fnUntraced(function* (from: string, to: string) {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  yield* spawner.exitCode(ChildProcess.make("cp", ["-a", from, to]))
})

/** Runs one scenario on a data folder below `folder`, which must exist and be empty. Fails with the broken guarantee. */
export const runScenario = Effect.fn("runScenario")(
  function* (world: CrashWorld, scenario: Scenario, folder: string) {
    const files = yield* FileSystem.FileSystem
    const dataDir = `${folder}/data`
    const logs = `${folder}/logs`
    const notesDir = `${folder}/notes`
    yield* files.makeDirectory(logs)
    yield* files.makeDirectory(notesDir)
    const disk = scenario.diskFull === true ? yield* smallDisk(dataDir) : undefined
    yield* copyFolder(`${world.template}/.`, dataDir)
    const databaseUrl = world.databases === undefined ? undefined : yield* world.databases.copy
    const gitdir = `${folder}/repository.git`
    yield* createRepository({ gitdir })
    const commit = (more: string) => commitFiles({ gitdir, files: { "main.tf": crashModule(notesDir, more) } })
    const repository = yield* serveRepository({ gitdir })
    const { checked } = scenario
    yield* commit(checked === true ? checkedOutput(repository.origin) : "")
    const policyFile = `${folder}/policy.json`
    if (checked === true) yield* files.writeFileString(policyFile, checkPolicy(repository.origin))
    const stage = scenario.hunt?.stage
    const way = stage === "sync" ? yield* holdOrigin(repository.origin) : undefined
    const hold = stage === undefined || stage === "sync" ? way?.hold : yield* holdNote(notesDir, stage)
    const gitOrigin = way?.origin ?? repository.origin

    const acknowledged = nothingAcknowledged()
    const seen: Array<string> = []
    const leaks = (exceptRuns: boolean) =>
      Effect.sync(() => {
        seen.push(
          ...sweep([dataDir, logs], secretsOf(world), (file) => exceptRuns && file.startsWith(`${dataDir}/runs/`))
        )
      })
    const host = yield* crashHost(
      {
        program: world.program,
        dataDir,
        gitOrigin,
        mirror: world.mirror,
        notesDir,
        logFile: `${logs}/server.log`,
        token: world.token,
        databaseUrl,
        ...(scenario.isolation === undefined ? {} : { isolation: scenario.isolation }),
        ...(checked === true ? { policyFile } : {})
      },
      scenario.kills,
      {
        // A running tool needs its inputs in plain text; no other process does.
        dead: leaks(true),
        restarted: ({ client }) =>
          Effect.andThen(
            leaks(true),
            Effect.forEach(
              acknowledged.runs,
              (runId) =>
                client.runs.read({ params: { runId } }).pipe(
                  Effect.catchTag("ApiError", (error) =>
                    Effect.sync(() => seen.push(`${runId} is lost: ${error.message}`))
                  ),
                  Effect.ignore
                ),
              { discard: true }
            )
          )
      }
    )
    const client = crashClient(host, disk !== undefined)
    const applyFailed = Effect.fnUntraced(function* (apply: Run) {
      const { capsule } = yield* client
        .call((api) => api.capsules.read({ params: { capsuleId: apply.capsuleId ?? "" } }))
        .pipe(Effect.mapError(({ message }) => new Broken({ message })))
      const uncertain = apply.stateVersionId !== undefined || (apply.possiblyCreated ?? []).length > 0
      yield* holds(
        !uncertain || (capsule.status === "error" && capsule.runtimeSafety === "unknown"),
        `After an apply that left something, the Capsule is ${capsule.status} and ${capsule.runtimeSafety}`
      )
    })
    yield* Effect.forkScoped(readEvents(host, acknowledged))
    const wantedKills = scenario.mustKill ? Math.max(1, scenario.kills.length) : 0
    let victims = 0
    const killed = () => {
      victims++
    }
    if (scenario.hunt !== undefined && hold !== undefined)
      yield* Effect.forkScoped(hunt(host, scenario.hunt, hold, killed))
    for (const one of scenario.strikes ?? []) yield* Effect.forkScoped(strike(host, one, killed))
    if (disk !== undefined) yield* Effect.forkScoped(spoil(host, disk, notesDir, killed))
    yield* travel(
      {
        client,
        world,
        repositoryUrl: repository.url.replace(repository.origin, gitOrigin),
        acknowledged,
        mayFail: mayFail(scenario),
        applyFailed
      },
      scenario.journey,
      {
        slower: Effect.orDie(commit(slowNote)),
        chain: (revision) => Effect.orDie(commitFiles({ gitdir, files: chainModules(revision) }))
      }
    ).pipe(
      Effect.timeoutOrElse({
        duration: "4 minutes",
        orElse: () => Effect.fail(new Broken({ message: "The journey did not end within 4 minutes" }))
      })
    )
    // The last point may be reached after the journey has seen its last Run end.
    const happened = Effect.sync(() => host.kills() + victims >= wantedKills)
    yield* Effect.repeat(happened, { until: (isSo) => isSo, schedule: Schedule.spaced("100 millis") }).pipe(
      Effect.timeoutOption(killedWithin)
    )
    const code = yield* host.stop
    yield* leaks(false)
    const running = yield* survivors(dataDir)
    const left = readdirSync(`${dataDir}/runs`)
    const ledger = yield* readLedger(dataDir, databaseUrl === undefined ? {} : { databaseUrl })
    const cloud = yield* readCloud(notesDir)
    const wrong = [
      ...seen,
      ...untruths(ledger, cloud, acknowledged, host.kills() + victims),
      ...(checked === true ? uncheckedSuccesses(ledger) : []),
      ...running.map((commandLine) => `A process stayed: ${commandLine.slice(0, 200)}`),
      ...left.map((name) => `The run folder ${name} stayed`),
      ...(code === 0 ? [] : [`The last server ended with ${code}`]),
      ...(host.kills() + victims < wantedKills ? [`Only ${host.kills() + victims} of the kills happened`] : [])
    ]
    yield* holds(wrong.length === 0, [...new Set(wrong)].join("\n    "))
    return host.kills() + victims
  },
  Effect.scoped,
  Effect.catchCause((cause) => Effect.fail(brokenBy(cause)))
)
