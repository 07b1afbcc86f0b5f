// `npm run animation` performs the main job in Chromium against a real server, and records an animation of about a minute
// for the README: docs/pictures/main-job.webp. Requires `img2webp` from Debian's `webp` package.
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Effect, FileSystem, Path, Runtime, Schema } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { startBrowser } from "../test/browser/support/Browser.ts"
import { personAt, setUp } from "../test/browser/support/Person.ts"
import { realServer } from "../test/browser/support/RealServer.ts"
import { impactWords } from "../src/dashboard/screens/run/ImpactWords.ts"
import { sampleWords } from "../src/dashboard/screens/install/TrySample.tsx"

class AnimationFailed extends Schema.TaggedError<AnimationFailed>()("AnimationFailed", { message: Schema.String }) {
  override readonly [Runtime.errorExitCode] = 1
}

const program = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const root = path.resolve(yield* path.fromFileUrl(new URL("..", import.meta.url)))
  const folder = yield* files.makeTempDirectoryScoped({ prefix: "svc-animation-" })
  const server = yield* realServer("https://git.example.com", ["--runner-isolation=required"])
  const browser = yield* Effect.acquireRelease(Effect.promise(startBrowser), (started) =>
    Effect.promise(() => started.close())
  )
  const { page } = yield* Effect.promise(() =>
    browser.open({ language: "en", theme: "light", width: 1080, height: 720 })
  )
  const { heading, press, pressInDialog, reviewing, see, step, succeeded } = personAt(page, 60_000)
  const frames: Array<string> = []
  /** Takes a screenshot, without placeholders for loading data, that the animation shows for the given number of seconds. */
  const frame = Effect.fnUntraced(function* (seconds: number) {
    yield* step(() =>
      page.waitForFunction(
        (loading) => document.querySelector(".skeleton") === null && !document.body.innerText.includes(loading),
        impactWords.en.loading
      )
    )
    const file = path.join(folder, `${frames.length}.png`)
    yield* step(() => page.screenshot({ path: file }))
    frames.push("-d", String(seconds * 1000), file)
  })
  yield* setUp(page, server.setupLink)
  yield* frame(4)
  yield* press(sampleWords.en.try)
  yield* reviewing
  yield* frame(7)
  yield* step(() => page.mouse.wheel(0, 420))
  yield* frame(6)
  yield* step(() => page.mouse.wheel(0, -2000))
  yield* press("Approve and apply")
  yield* step(() => page.getByRole("dialog").waitFor())
  yield* frame(6)
  yield* pressInDialog("Approve and apply")
  yield* heading("Apply · hello")
  yield* frame(4)
  yield* succeeded
  yield* frame(6)
  yield* step(() => page.locator(".trail").getByRole("link", { name: "hello" }).click())
  yield* see("Good morning, world!")
  yield* frame(7)
  yield* step(() => page.goto(`${page.url()}/danger`))
  yield* press("Plan the destruction")
  yield* step(() => page.getByRole("dialog").waitFor())
  yield* frame(5)
  yield* pressInDialog("Plan the destruction")
  yield* heading("Destroy plan · hello")
  yield* reviewing
  yield* frame(6)
  yield* step(() => page.goto(new URL("/", page.url()).toString()))
  yield* step(() => page.waitForLoadState("networkidle"))
  yield* frame(6)
  const target = path.join(root, "docs/pictures/main-job.webp")
  yield* files.makeDirectory(path.dirname(target), { recursive: true })
  const code = yield* spawner.exitCode(
    ChildProcess.make("img2webp", ["-loop", "0", "-lossy", "-q", "75", "-m", "6", ...frames, "-o", target])
  )
  if (Number(code) !== 0) return yield* new AnimationFailed({ message: "img2webp failed." })
  const { size } = yield* files.stat(target)
  yield* Console.log(`docs/pictures/main-job.webp  ${size / 1024n} KiB`)
}).pipe(Effect.scoped)

NodeRuntime.runMain(program.pipe(Effect.provide(NodeServices.layer)))
