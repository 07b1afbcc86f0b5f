import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { type Cause, Effect } from "effect"

const head = "ref: refs/heads/main\n"
const config = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n"

/**
 * An empty bare repository: SHA-1, with a file for each ref. Every version of git reads this format. `git init` would use its
 * version's preferred format, and a repository that uses SHA-256 cannot fetch a SHA-1 commit.
 */
export const createBareRepository = (gitdir: string): Effect.Effect<void, Cause.UnknownError> =>
  Effect.tryPromise(async () => {
    for (const folder of ["objects", "refs"]) await mkdir(join(gitdir, folder), { recursive: true })
    await writeFile(join(gitdir, "HEAD"), head)
    await writeFile(join(gitdir, "config"), config)
  })
