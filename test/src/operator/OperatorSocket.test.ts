import { describe, expect } from "bun:test"
import { Effect, FileSystem, Layer, Stream } from "effect"
import { Sandbox } from "../../../runner/sandbox/Sandbox.ts"
import { systemPath } from "../../../runner/sandbox/SandboxView.ts"
import { DataFolder } from "../../../src/database/DataFolder.ts"
import { folder, live, svc } from "../cli/support/CommandLine.ts"
import { serve } from "./support/Server.ts"

const setupLink = (dataDir: string) => svc(["admin", "setup-link", "--data-dir", dataDir, "--json"])

/** Leaves a socket behind, as a killed server does. */
const deadSocket = (path: string) =>
  Effect.promise(async () => {
    const script = `Bun.listen({ unix: ${JSON.stringify(path)}, socket: { data() {} } }); process.kill(process.pid, "SIGKILL")`
    await Bun.spawn([process.execPath, "-e", script], { stdio: ["ignore", "ignore", "ignore"] }).exited
  })

/**
 * Starts a process that holds the folder's lock and listens on a socket in the folder, as a server does. `onData` runs when
 * the process first receives data.
 */
const standIn = Effect.fn("standIn")(function* (dataDir: string, onData: string) {
  const script = `
    import { DatabaseSync } from "node:sqlite"
    // Keeps a reference to the lock, because garbage collection would release it.
    const lock = (globalThis.lock = new DatabaseSync(${JSON.stringify(`${dataDir}/instance.lock`)}))
    lock.exec("PRAGMA journal_mode=MEMORY; BEGIN EXCLUSIVE")
    Bun.listen({ unix: ${JSON.stringify(`${dataDir}/operator.sock`)}, socket: { data(socket) { ${onData} } } })
    console.log("listening")`
  const child = yield* Effect.acquireRelease(
    Effect.sync(() => Bun.spawn([process.execPath, "-e", script], { stdio: ["ignore", "pipe", "inherit"] })),
    (spawned) => Effect.sync(() => spawned.kill("SIGKILL"))
  )
  yield* Effect.promise(() => child.stdout.getReader().read())
})

describe("Operator socket", () => {
  for (const [fate, onData] of [
    ["is killed", `process.kill(process.pid, "SIGKILL")`],
    ["hangs up", "socket.end()"],
    ["speaks another language", `socket.write("HTTP/1.1 400 Bad Request\\r\\n\\r\\n")`]
  ] as const)
    live(`a command is never reported as done if the server ${fate} partway through`, () =>
      Effect.gen(function* () {
        const files = yield* FileSystem.FileSystem
        const dataDir = `${yield* folder}/data`
        yield* files.makeDirectory(dataDir, { mode: 0o700 })
        yield* files.writeFileString(`${dataDir}/operator.secret`, "whatever it is", { mode: 0o600 })
        yield* standIn(dataDir, onData)
        const { code, error, out } = yield* setupLink(dataDir)
        expect([code, out, JSON.parse(error).error.message]).toEqual([
          1,
          "",
          expect.stringContaining("may have been done or not")
        ])
      })
    )

  live("a new server replaces the socket that a killed server left, and until then the socket blocks nobody", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const dataDir = `${yield* folder}/data`
      yield* files.makeDirectory(dataDir, { mode: 0o700 })
      yield* deadSocket(`${dataDir}/operator.sock`)
      expect(yield* files.exists(`${dataDir}/operator.sock`)).toBe(true)
      const idle = yield* setupLink(dataDir)
      expect([idle.code, idle.error]).toEqual([0, ""])
      yield* Effect.scoped(
        Effect.gen(function* () {
          const { url } = yield* serve(dataDir)
          expect(JSON.parse((yield* setupLink(dataDir)).out).setupLink).toStartWith(url)
        })
      )
      expect(yield* files.exists(`${dataDir}/operator.sock`)).toBe(false)
    })
  )

  live("the server and the command both report an operator socket whose path is too long", () =>
    Effect.gen(function* () {
      const dataDir = `${yield* folder}/${"long/".repeat(20)}data`
      const { logged } = yield* serve(dataDir)
      expect(yield* logged).toContain("need this server stopped")
      const { code, error, out } = yield* setupLink(dataDir)
      expect([code, out]).toEqual([1, ""])
      const { message } = JSON.parse(error).error
      expect(message).toContain(`process ${process.pid}`)
      expect(message).toMatch(/has \d+ bytes.*at most 10\d.*stop the server/)
    })
  )

  // Only root can give a folder to another user.
  if (process.getuid?.() === 0)
    live("root must use the socket, because the server's user could not read files that root writes", () =>
      Effect.gen(function* () {
        const files = yield* FileSystem.FileSystem
        const dataDir = `${yield* folder}/data`
        yield* files.makeDirectory(dataDir, { mode: 0o700 })
        yield* files.chown(dataDir, 61_001, 61_001)
        const { code, error } = yield* setupLink(dataDir)
        expect([code, JSON.parse(error).error.message]).toEqual([1, expect.stringContaining("belongs to user 61001")])
        expect(yield* files.readDirectory(dataDir)).toEqual([])
      })
    )

  live("a command reports a missing socket while another command holds the folder", () =>
    Effect.gen(function* () {
      const dataDir = `${yield* folder}/data`
      yield* Layer.build(Layer.fresh(DataFolder.layer(dataDir)))
      const { code, error } = yield* setupLink(dataDir)
      expect([code, JSON.parse(error).error.message]).toEqual([
        1,
        expect.stringContaining("Repeat the command shortly")
      ])
    })
  )

  live("the operator socket closes a malformed connection, and still serves the next connection", () =>
    Effect.gen(function* () {
      const dataDir = `${yield* folder}/data`
      const { url } = yield* serve(dataDir)
      // A silent client must not keep the server running after this test.
      yield* Effect.promise(() => Bun.connect({ unix: `${dataDir}/operator.sock`, socket: { data() {} } }))
      for (const nonsense of [
        "GET / HTTP/1.1\r\n\r\n",
        `{"_tag":"Request","id":"1","tag":"Nothing","payload":{},"headers":[]}\n`,
        "x".repeat(200_000)
      ]) {
        yield* Effect.promise(
          () =>
            new Promise<void>((resolve) => {
              void Bun.connect({
                unix: `${dataDir}/operator.sock`,
                socket: {
                  open: (socket) => void socket.end(nonsense),
                  data() {},
                  close: () => resolve(),
                  error: () => resolve()
                }
              })
            })
        )
      }
      expect(JSON.parse((yield* setupLink(dataDir)).out).setupLink).toStartWith(url)
    })
  )

  live(
    "the operator socket accepts a command only with the secret of its server, which only the owner of the folder can read",
    () =>
      Effect.gen(function* () {
        const files = yield* FileSystem.FileSystem
        const dataDir = `${yield* folder}/data`
        yield* serve(dataDir)
        const secret = `${dataDir}/operator.secret`
        expect((yield* files.stat(secret)).mode & 0o777).toBe(0o600)
        const headers = (given: string) => [["x-svc-operator-secret", given]]
        const answerTo = (given: ReadonlyArray<ReadonlyArray<string>>) =>
          Effect.promise(
            () =>
              new Promise<string>((resolve) => {
                const request = { _tag: "Request", id: "1", tag: "SetupLink", payload: null, headers: given }
                void Bun.connect({
                  unix: `${dataDir}/operator.sock`,
                  socket: {
                    open: (socket) => void socket.write(`${JSON.stringify(request)}\n`),
                    data: (socket, bytes) => {
                      socket.end()
                      resolve(bytes.toString())
                    }
                  }
                })
              })
          )
        const correct = yield* files.readFileString(secret)
        for (const given of [[], headers(""), headers("0".repeat(64)), headers(correct.slice(1))]) {
          const answer = yield* answerTo(given)
          expect(answer).toContain("OperatorUnauthorised")
          expect(answer).not.toContain("Success")
        }
        expect(yield* answerTo(headers(correct))).toContain("Success")
      })
  )

  live("the operator socket is invisible to programs in the sandbox", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const dataDir = `${yield* folder}/data`
      const { services } = yield* serve(dataDir)
      const root = `${dataDir}/runs/run_of_test`
      yield* files.makeDirectory(root)
      const seen = yield* Effect.gen(function* () {
        const sandbox = yield* Sandbox
        const box = yield* sandbox.open({ root, readOnly: [] })
        const script = `ls ${dataDir} 2>/dev/null; find / -path /proc -prune -o -name operator.sock -print 2>/dev/null; echo looked`
        const child = yield* box.spawn({
          argv: ["/bin/sh", "-c", script],
          cwd: ".",
          environment: { PATH: systemPath },
          network: true
        })
        const text = yield* Stream.mkString(Stream.decodeText(child.stdout))
        yield* child.end
        return { level: sandbox.status.level, text }
      }).pipe(Effect.provide(services))
      // Only bubblewrap hides the socket file. At the other levels the file's mode must protect it.
      if (seen.level === "bubblewrap") expect(seen.text).toBe("looked\n")
      else expect(process.env["SVC_TEST_REQUIRE_ALL"]).not.toBe("1")
    })
  )
})
