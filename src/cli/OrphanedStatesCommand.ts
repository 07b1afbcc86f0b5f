import { Effect, FileSystem, Redacted } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import type { KeptOrphanedState } from "../operator/OrphanedStateCommands.ts"
import { OperatorOrphanedStates } from "../operator/Operator.ts"
import { CommandFailed, jsonFlag, misuse, print } from "./Output.ts"
import { dataFlags, settingsOf } from "./SettingFlags.ts"

const formatted = (items: ReadonlyArray<KeptOrphanedState>): string =>
  items.length === 0
    ? "No apply has left a state that waits for a decision."
    : [
        ...items.map(
          ({ capsule, created_at, id, reason, run_id, serial, size_bytes, workspace }) =>
            `${id}  ${workspace}/${capsule}  ${reason}  serial ${serial ?? "unknown"}  ${size_bytes} bytes  ${run_id}  (${created_at})`
        ),
        "Read one with `svc admin left-over-states download ID --out FILE`; an owner adopts or discards it in the dashboard."
      ].join("\n")

const listCommand = Command.make(
  "list",
  { ...dataFlags, json: jsonFlag },
  Effect.fn("leftOverStates.list")(function* ({ config, json, ...flags }) {
    const settings = yield* settingsOf(flags, config)
    const leftOverStates = yield* Effect.flatMap(OperatorOrphanedStates, ({ list }) => list).pipe(
      Effect.provide(OperatorOrphanedStates.layer(settings))
    )
    yield* print(json, { leftOverStates }, formatted(leftOverStates))
  })
).pipe(Command.withDescription("List the states that nobody has adopted or discarded"))

const downloadCommand = Command.make(
  "download",
  {
    ...dataFlags,
    id: Argument.String("id").pipe(Argument.withDescription("The left-over state, lo_...")),
    out: Flag.Path("out").pipe(
      Flag.withDescription("New file for the state, readable only by you"),
      Flag.withMetavar("path")
    ),
    json: jsonFlag
  },
  Effect.fn("leftOverStates.download")(function* ({ config, id, json, out, ...flags }) {
    const settings = yield* settingsOf(flags, config)
    const files = yield* FileSystem.FileSystem
    const taken = new CommandFailed({
      ...misuse,
      message: `${out} exists already. Name a new file: nothing is overwritten.`
    })
    // Checks the output file before requesting the state, so that the audit trail contains no failed download.
    if (yield* files.exists(out)) return yield* taken
    const { digest, state } = yield* Effect.flatMap(OperatorOrphanedStates, ({ download }) => download(id)).pipe(
      Effect.provide(OperatorOrphanedStates.layer(settings))
    )
    yield* files
      .writeFile(out, Redacted.value(state), { flag: "wx", mode: 0o600 })
      .pipe(Effect.catchReason("PlatformError", "AlreadyExists", () => taken))
    yield* print(
      json,
      { id, digest, file: out },
      `Wrote ${out} (${digest}). It holds the secrets of the infrastructure in the clear: remove it when you have read it.`
    )
  })
).pipe(
  Command.withDescription("Write the state to a new file of mode 0600; the audit trail of its Workspace records it")
)

/** Manages orphaned states, which are states that an apply produced but that could not become their Capsule's state. */
export const orphanedStatesCommand = Command.make("left-over-states").pipe(
  Command.withDescription("States that applies left behind and that their Capsules could not accept"),
  Command.withSubcommands([listCommand, downloadCommand])
)
