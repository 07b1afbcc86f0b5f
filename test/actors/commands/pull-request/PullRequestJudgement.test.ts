import { afterAll, expect, setDefaultTimeout } from "bun:test"
import { Effect } from "effect"
import { RelativePath } from "../../../../schema/records/Primitives.ts"
import { suite } from "../../../support/Effect.ts"
import { testPlane } from "../../../support/TestPlane.ts"
import { greeting } from "../../support/GreetingModule.ts"
import { branched, followed, looked, pullRef, readOf } from "../../support/PullRequestWorld.ts"

setDefaultTimeout(120_000)
const tests = suite(testPlane())
afterAll(tests.dispose)

/** The number of files after which GitHub's list of changed files ends, and one more. */
const changedFiles = 301

const inFolder = (folder: string, files: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(files).map(([name, text]) => [`${folder}/${name}`, text]))

const manyFiles = (text: string, count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`docs/${1000 + index}.md`, `${text} ${index}\n`]))

tests.live("a pull request of 301 files affects a Capsule exactly if it changes a file of the module", () =>
  Effect.gen(function* () {
    const { base, secret, source } = yield* followed(
      "many-files",
      { ...manyFiles("old", changedFiles), ...inFolder("zz", greeting("one")) },
      { pullRequests: "own_branches" },
      { options: { modulePath: RelativePath.make("zz") } }
    )
    // The file of the module is the last one in every order.
    // A commit has exactly the given files, and the last one of `docs` stays as it is.
    const last = `docs/${1000 + changedFiles - 1}.md`
    const touching = {
      ...manyFiles("new", changedFiles - 1),
      [last]: `old ${changedFiles - 1}\n`,
      ...inFolder("zz", greeting("two"))
    }
    const others = { ...manyFiles("new", changedFiles), ...inFolder("zz", greeting("one")) }
    yield* pullRef(1, yield* branched(base, "many-touching", touching))
    yield* pullRef(2, yield* branched(base, "many-others", others))
    yield* looked(source.id, secret)
    const [first, second] = [yield* readOf(source.id, 1), yield* readOf(source.id, 2)]
    expect(first.capsules).toMatchObject([{ touched: true, verdict: "planned", summary: { change: 1 } }])
    expect(first.review?.modules).toMatchObject([
      { path: "zz", files: { changed: ["zz/main.tf"], added: [], removed: [] } }
    ])
    expect(second.capsules).toMatchObject([{ touched: false }])
    expect(second.capsules?.[0]).not.toHaveProperty("run")
    expect([first.counts, second.counts]).toEqual([{ planned: 1 }, {}])
  })
)
