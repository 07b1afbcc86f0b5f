import { Effect } from "effect"
import { spawn } from "node:child_process"
import { httpServer } from "./HttpServer.ts"

const parseHead = (head: string) => {
  const lines = head.split("\r\n").map((line) => line.split(/: (.*)/s))
  const status = Number(lines.find(([name]) => name === "Status")?.[1]?.slice(0, 3) ?? 200)
  return { status, headers: lines.filter(([name]) => name !== "Status" && name !== "") }
}

/** Serves a bare repository with native `git http-backend`, which Git hosts also use behind their front ends. */
export const serveByHttpBackend = Effect.fnUntraced(function* (gitdir: string) {
  const server = yield* httpServer((request, response) => {
    const { pathname, search } = new URL(request.url ?? "/", "http://localhost")
    const child = spawn("git", ["http-backend"], {
      env: {
        PATH: process.env["PATH"],
        GIT_CONFIG_GLOBAL: "/dev/null",
        GIT_CONFIG_NOSYSTEM: "1",
        GIT_HTTP_EXPORT_ALL: "1",
        GIT_PROJECT_ROOT: gitdir,
        GIT_PROTOCOL: String(request.headers["git-protocol"] ?? ""),
        PATH_INFO: pathname.replace("/repository.git", ""),
        QUERY_STRING: search.slice(1),
        REQUEST_METHOD: request.method,
        CONTENT_TYPE: request.headers["content-type"] ?? "",
        ...(request.headers["content-encoding"] === undefined
          ? {}
          : { HTTP_CONTENT_ENCODING: request.headers["content-encoding"] })
      }
    })
    request.pipe(child.stdin)
    const parts: Array<Buffer> = []
    child.stdout.on("data", (part: Buffer) => parts.push(part))
    child.on("close", () => {
      const output = Buffer.concat(parts)
      const end = output.indexOf("\r\n\r\n")
      const { status, headers } = parseHead(output.subarray(0, end).toString())
      response.statusCode = status
      for (const [name, value] of headers)
        if (name !== undefined && value !== undefined) response.setHeader(name, value)
      response.end(output.subarray(end + 4))
    })
  })
  return server
})
