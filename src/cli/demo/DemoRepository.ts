import { Effect, FileSystem, Path } from "effect"
import { serveRepository } from "./git-server/GitServer.ts"
import { treeDigest } from "../../../runner/sandbox/TreeDigest.ts"
import { commitFiles, createRepository } from "./git-server/RepositoryWriter.ts"

const firstRevision = `variable "name" {
  type        = string
  default     = "world"
  description = "Who is greeted"
}

resource "terraform_data" "greeting" {
  input = "Hello, \${var.name}!"
}

output "greeting" {
  value       = terraform_data.greeting.output
  description = "What the first revision says"
}
`

const secondRevision = `${firstRevision.replace("Hello", "Good morning")}
resource "terraform_data" "farewell" {
  input = "Goodbye, \${var.name}!"
}

output "farewell" {
  value = terraform_data.farewell.output
}
`

const filesOf = (module: string) => ({ "main.tf": module, "README.md": "# A demo module\n" })

/** The digests of the demo's own modules. These modules may run without isolation, since they affect nothing but their state. */
export const demoTrees = [firstRevision, secondRevision].map((module) => treeDigest(filesOf(module)))

/** Serves a Git repository over loopback until the Scope closes. It contains one module without providers. */
export const demoRepository = Effect.gen(function* () {
  const fileSystem = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const gitdir = path.join(yield* fileSystem.makeTempDirectoryScoped({ prefix: "svc-demo-git-" }), "repository.git")
  yield* createRepository({ gitdir })
  const commit = (module: string, message: string) => commitFiles({ gitdir, message, files: filesOf(module) })
  const first = yield* commit(firstRevision, "Greet")
  const served = yield* serveRepository({ gitdir })
  return { ...served, first, commitSecond: commit(secondRevision, "Greet better, and say goodbye") }
})
