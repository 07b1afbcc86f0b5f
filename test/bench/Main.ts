// `bun run bench`: measures every figure together with its comparison in one run. `--only reads` runs one group and may be
// repeated. `--against FILE` only compares this build with another release binary.
import { NodeRuntime } from "@effect/platform-node"
import { availableParallelism, loadavg } from "node:os"
import { parseArgs } from "node:util"
import { Cause, Console, Duration, Effect, Schema } from "effect"
import { platform } from "../../src/composition/Platform.ts"
import { agents } from "./agents/Agents.ts"
import { commandLine } from "./CommandLine.ts"
import { commandsFigure } from "./commands/Commands.ts"
import { growth } from "./Growth.ts"
import { logs } from "./Logs.ts"
import { mainJob } from "./MainJob.ts"
import { manifests } from "./Manifests.ts"
import { postgresDistance } from "./PostgresDistance.ts"
import { pruning } from "./Pruning.ts"
import { reads } from "./Reads.ts"
import { manySecrets } from "./Secrets.ts"
import { sideBySide } from "./SideBySide.ts"
import { signInStorm } from "./SignInStorm.ts"
import { snapshots } from "./Snapshots.ts"
import { startup } from "./Startup.ts"
import { streams } from "./Streams.ts"
import { type Parts, printFigure } from "./support/Figures.ts"
import { releaseBinary } from "./support/ReleaseBinary.ts"
import { tokenCheck } from "./TokenCheck.ts"

const tool = Bun.which("tofu") ?? Bun.which("terraform")

const groups = (binary: string) => ({
  ...(tool === null ? {} : { mainJob: mainJob(binary, tool) }),
  reads: reads(binary),
  commands: commandsFigure,
  postgresDistance,
  streams,
  snapshots: snapshots(binary),
  startup: startup(binary),
  commandLine: commandLine(binary),
  ...(tool === null ? {} : { growth: growth(binary) }),
  ...(tool === null ? {} : { logs: logs(binary, tool) }),
  ...(tool === null ? {} : { secrets: manySecrets(binary, tool) }),
  ...(tool === null ? {} : { agents: agents(binary, tool) }),
  tokenCheck,
  signInStorm,
  pruning,
  manifests
})

/** Raised if the requested group does not exist. */
class UnknownGroup extends Schema.TaggedError<UnknownGroup>()("UnknownGroup", { message: Schema.String }) {}

const { values } = parseArgs({
  args: process.argv.slice(2),
  options: { only: { type: "string", multiple: true }, against: { type: "string" } }
})
const wanted = values.only

/** Warns that timings mean little on a busy machine. */
const printLoad = Effect.suspend(() =>
  Console.log(`${loadavg()[0]?.toFixed(1)} processes on ${availableParallelism()} cores in the last minute`)
)

/** Each group has a separate time limit, so a group that fails or hangs does not delay the next group. */
const longestPart = Duration.minutes(8)

const printPart = ({ figures, name }: Parts[number]) =>
  figures.pipe(
    Effect.timeout(longestPart),
    Effect.flatMap((all) => Effect.forEach(all, printFigure)),
    Effect.catchCause((cause) => Console.log(`FAILED  ${name}: ${Cause.pretty(cause)}`))
  )

const program = Effect.gen(function* () {
  const binary = yield* releaseBinary
  if (tool === null) yield* Console.log("No tofu or terraform on PATH: the main job, growth and logs are left out.")
  const all =
    values.against === undefined || tool === null
      ? groups(binary)
      : { sideBySide: sideBySide(binary, values.against, tool) }
  const unknown = wanted?.find((name) => !Object.hasOwn(all, name))
  if (unknown !== undefined) {
    return yield* new UnknownGroup({ message: `No group ${unknown}. There are: ${Object.keys(all).join(", ")}.` })
  }
  yield* printLoad
  for (const [name, group] of Object.entries(all)) {
    if (wanted !== undefined && !wanted.includes(name)) continue
    if (Effect.isEffect(group)) for (const figure of yield* group) yield* printFigure(figure)
    else yield* Effect.forEach(group, printPart)
  }
  yield* printLoad
}).pipe(Effect.scoped, Effect.provide(platform))

NodeRuntime.runMain(program)
