import { Effect, FileSystem, Path } from "effect"
import { sampleFiles, sampleRevisions } from "../../runner/git/SampleModule.ts"
import { serveRepository } from "../../src/testing/git-server/GitServer.ts"
import { commitFiles, createRepository } from "../../src/testing/git-server/RepositoryWriter.ts"

const [{ module: firstRevision = "" } = {}, { module: secondRevision = "" } = {}] = sampleRevisions

/** Serves a Git repository with one module without providers over loopback until the Scope closes. */
export const demoRepository = Effect.gen(function* () {
  const fileSystem = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const gitdir = path.join(yield* fileSystem.makeTempDirectoryScoped({ prefix: "svc-demo-git-" }), "repository.git")
  yield* createRepository({ gitdir })
  const commit = (module: string, message: string) => commitFiles({ gitdir, message, files: sampleFiles(module) })
  const first = yield* commit(firstRevision, "Greet")
  const served = yield* serveRepository({ gitdir })
  return { ...served, first, commitSecond: commit(secondRevision, "Greet better, and say goodbye") }
})
