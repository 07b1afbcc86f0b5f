import { Effect, FileSystem, Path, Redacted, Stream } from "effect"
import { SecureRandom } from "effect/crypto"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { type Keyring, makeKeyring, makeMasterKey, masterKeyLength, parseKeyring, printKeyring } from "./MasterKey.ts"
import { VaultLocked } from "./Sealing.ts"
import type { MasterKeySource } from "./VaultSettings.ts"

const maxKeyBytes = 65_536n

const readFile = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const info = yield* fs.stat(file)
  if ((info.mode & 0o077) !== 0) {
    return yield* VaultLocked.because(
      `The master key file ${file} can be read by others. Make it private with \`chmod 600 ${file}\`.`
    )
  }
  if (info.size > maxKeyBytes) return yield* VaultLocked.because(`${file} is too large to be a master key file.`)
  return Redacted.make(yield* fs.readFileString(file))
})

const runCommand = Effect.fnUntraced(function* (command: string) {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const handle = yield* spawner.spawn(ChildProcess.make("sh", ["-c", command], { extendEnv: true, stdin: "ignore" }))
  const [text, exitCode] = yield* Effect.all([Stream.mkString(Stream.decodeText(handle.stdout)), handle.exitCode], {
    concurrency: 2
  })
  if (exitCode !== 0) {
    return yield* VaultLocked.because(
      `The master key command ended with exit code ${exitCode}. Run it by hand to see why.`
    )
  }
  return Redacted.make(text)
}, Effect.scoped)

/** Replaces the keyring file atomically: after a crash, it is either the old or the new file. */
export const writeKeyringFile = Effect.fn("writeKeyringFile")(
  function* (file: string, keyring: Keyring) {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const text = yield* printKeyring(keyring)
    const partial = `${file}.partial`
    yield* fs.remove(partial, { force: true })
    yield* Effect.scoped(
      Effect.gen(function* () {
        const handle = yield* fs.open(partial, { flag: "wx", mode: 0o600 })
        yield* handle.writeAll(new TextEncoder().encode(`${Redacted.value(text)}\n`))
        yield* handle.sync
      })
    )
    yield* fs.rename(partial, file)
    yield* Effect.scoped(Effect.flatMap(fs.open(path.dirname(file), { flag: "r" }), (folder) => folder.sync))
  },
  (effect, file) =>
    Effect.catchTag(effect, "PlatformError", (error) =>
      VaultLocked.because(`The master key file ${file} cannot be written: ${error.message}.`)
    )
)

/** Creates a random key. */
export const generateMasterKey = Effect.gen(function* () {
  const random = yield* SecureRandom.SecureRandom
  return yield* makeMasterKey(Redacted.make(yield* random.randomBytes(masterKeyLength)), "active")
})

const createFile = Effect.fnUntraced(function* (file: string) {
  const keyring = yield* makeKeyring([yield* generateMasterKey])
  yield* writeKeyringFile(file, keyring)
  return keyring
})

/**
 * Loads the keys from the configured source. `inUse` lists the keys required to open the sealed data; if it is not empty, a
 * missing file is never replaced by a new key. Fails with `VaultLocked`.
 */
export const loadKeyring = Effect.fn("loadKeyring")(
  function* (source: MasterKeySource, inUse: ReadonlyArray<string>) {
    switch (source.kind) {
      case "value":
        return yield* parseKeyring(source.value, "The master key setting")
      case "command":
        return yield* parseKeyring(yield* runCommand(source.command), "The output of the master key command")
      case "file": {
        const fs = yield* FileSystem.FileSystem
        if (yield* fs.exists(source.file)) return yield* parseKeyring(yield* readFile(source.file), source.file)
        if (inUse.length > 0) {
          return yield* new VaultLocked({
            message: `The master key file ${source.file} is missing, and stored secrets need the keys ${inUse.join(", ")}. Put the file back; a new key could not open them.`,
            keyIds: inUse
          })
        }
        if (!source.create) return yield* VaultLocked.because(`The master key file ${source.file} does not exist.`)
        return yield* createFile(source.file)
      }
    }
  },
  Effect.catchTag("PlatformError", (error) => VaultLocked.because(`The master key cannot be read: ${error.message}.`))
)

/** Loads the keys from the configured source. Fails with `VaultLocked` unless they include every key that sealed data needs. */
export const loadWholeKeyring = Effect.fn("loadWholeKeyring")(function* (
  source: MasterKeySource,
  inUse: ReadonlyArray<string>
) {
  const loaded = yield* loadKeyring(source, inUse)
  const missing = inUse.filter((id) => !loaded.keys.some((key) => key.id === id))
  if (missing.length === 0) return loaded
  return yield* new VaultLocked({
    message: `Stored secrets need the master keys ${missing.join(", ")}, which are not configured. Configure them in addition to ${loaded.active.id}.`,
    keyIds: missing
  })
})
