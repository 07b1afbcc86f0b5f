import { Effect, FileSystem } from "effect"
import { providerMirror } from "../../support/ProviderMirror.ts"

export const provider = "example.test/acme/demo"

/** Five resources of a provider. The tool installs, starts and calls the provider's plugin as usual. */
export const providerModule = `terraform {
  required_providers {
    demo = {
      source  = "${provider}"
      version = "1.0.0"
    }
  }
}

resource "demo_note" "many" {
  count   = 5
  name    = "note-\${count.index}"
  content = "bench"
}
`

/**
 * A mirror for a release binary's sandbox. It also contains the plugin's interpreter. The notes are stored in the temporary
 * folder of the process that starts the plugin.
 */
export const selfContainedMirror = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const mirror = yield* providerMirror
  const interpreter = `${mirror.path}/interpreter`
  yield* files.copyFile(mirror.interpreter, interpreter)
  yield* files.chmod(interpreter, 0o755)
  for (const name of yield* files.readDirectory(mirror.path, { recursive: true })) {
    if (!name.includes("/terraform-provider-")) continue
    const script = yield* files.readFileString(`${mirror.path}/${name}`)
    yield* files.writeFileString(`${mirror.path}/${name}`, script.replace(/^#!.*/, `#!${interpreter}`))
  }
  return mirror
})
