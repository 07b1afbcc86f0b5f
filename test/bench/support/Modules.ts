import { Effect, FileSystem } from "effect"
import { serveRepository } from "../../../src/testing/git-server/GitServer.ts"
import { commitFiles, createRepository } from "../../../src/testing/git-server/RepositoryWriter.ts"

/** A module without providers that creates 20 resources. */
export const module = `variable "name" {
  type    = string
  default = "bench"
}

resource "terraform_data" "many" {
  count = 20
  input = "\${var.name}-\${count.index}"
}

output "first" {
  value = terraform_data.many[0].output
}
`

/** Serves a repository on loopback with the module at its root and this many additional files. */
export const repositoryOf = Effect.fn("repositoryOf")(function* (files: Readonly<Record<string, string>>) {
  const system = yield* FileSystem.FileSystem
  const gitdir = `${yield* system.makeTempDirectoryScoped({ prefix: "svc-bench-git-" })}/repository.git`
  yield* createRepository({ gitdir })
  const commit = yield* commitFiles({ gitdir, message: "One", files })
  const served = yield* serveRepository({ gitdir })
  return { ...served, commit }
})

/** Creates `count` text files of about a kilobyte each, in folders of 50. */
export const manyFiles = (count: number): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => [
      `docs/${Math.floor(index / 50)}/page-${index}.md`,
      `# Page ${index}\n${`line of page ${index}\n`.repeat(50)}`
    ])
  )

/** One module with `count` files, each with a variable, a local value and a resource. */
export const moduleOfFiles = (count: number): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => [
      `part${index}.tf`,
      `variable "v${index}" {\n  type    = string\n  default = "x"\n}\n\nlocals {\n  l${index} = "\${var.v${index}}-${index}"\n}\n\nresource "terraform_data" "r${index}" {\n  input = local.l${index}\n}\n`
    ])
  )
