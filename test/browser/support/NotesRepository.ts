import { Effect, FileSystem, Path } from "effect"
import { serveRepository } from "../../../src/testing/git-server/GitServer.ts"
import { commitFiles, createRepository } from "../../../src/testing/git-server/RepositoryWriter.ts"

/** Returns the beginning of every notes module, which configures the tests' provider to write notes to this folder. */
export const notesProvider = (notesDir: string): string => `
terraform {
  required_providers {
    demo = { source = "acme/demo", version = "1.0.0" }
  }
}
provider "demo" {
  dir = ${JSON.stringify(notesDir)}
}
`

/** Serves a repository with one module until the Scope closes, and returns a function that changes the module. */
export const notesRepository = Effect.fnUntraced(function* (module: string) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const gitdir = path.join(yield* files.makeTempDirectoryScoped({ prefix: "dashboard-git-" }), "repository.git")
  yield* createRepository({ gitdir })
  const commit = (text: string, message: string) => commitFiles({ gitdir, message, files: { "main.tf": text } })
  yield* commit(module, "First revision")
  const { origin, url } = yield* serveRepository({ gitdir })
  return { origin, url, commit }
})
