import { connect } from "node:net"
import { Effect, Redacted } from "effect"
import { SvcApi } from "../../../schema/api/SvcApi.ts"
import { holds } from "../../crash/CrashClient.ts"
import type { Attack } from "../Attack.ts"
import { signatureOf } from "../Sent.ts"
import type { Target } from "../Target.ts"

/** One attempt from a row of docs/builders/attack-walk.md: the bytes to send, and the statuses that may result. */
interface Attempt {
  readonly row: string
  readonly method: string
  readonly path: string
  readonly headers?: ReadonlyArray<readonly [name: string, value: string]>
  readonly body?: string
  readonly held: ReadonlyArray<number>
  /** Text that the response must not contain. */
  readonly hidden?: string
}

const patience = 10_000

/** Sends a request byte for byte, and returns the statuses and text of all responses. */
const wire = ({ url }: Target, { body = "", headers = [], method, path }: Attempt) =>
  Effect.callback<{ readonly statuses: ReadonlyArray<number>; readonly text: string }>((resume) => {
    const { hostname, port } = new URL(url)
    const chunks: Array<Buffer> = []
    const socket = connect({ host: hostname, port: Number(port) })
    const done = () => {
      const text = Buffer.concat(chunks).toString("latin1")
      const statuses = [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))
      resume(Effect.succeed({ statuses, text }))
    }
    socket.setTimeout(patience, () => socket.destroy())
    socket.on("data", (chunk: Buffer) => chunks.push(chunk))
    socket.on("close", done)
    socket.on("error", () => {})
    const names = new Set(headers.map(([name]) => name.toLowerCase()))
    const more = [
      ["host", `${hostname}:${port}`],
      ["connection", "close"],
      ...(body === "" || names.has("transfer-encoding") ? [] : [["content-length", String(Buffer.byteLength(body))]])
    ].filter(([name = ""]) => !names.has(name))
    const lines = [...more, ...headers].map(([name, value]) => `${name}: ${value}\r\n`)
    socket.write(`${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n${body}`)
  })

const evil = ["origin", "https://evil.example"] as const
const json = ["content-type", "application/json"] as const
const bearer = (token: string) => ["authorization", `Bearer ${token}`] as const

/** Returns every route below a Workspace, with ids that do not exist. */
const workspaceRoutes = (workspaceId: string) =>
  Object.values(SvcApi.groups).flatMap((group) =>
    Object.values(group.endpoints).flatMap(({ method, path }) =>
      path.startsWith("/api/v1/workspaces/:workspaceId")
        ? [{ method, path: path.replace(":workspaceId", workspaceId).replaceAll(/:\w+/g, "none") }]
        : []
    )
  )

const spellings = (path: string) => [
  `/${path}`,
  `/.${path}`,
  `/x/..${path}`,
  `/%2e${path}`,
  path.replace("/v1/", "/v1//"),
  path.replace("/v1/", "/v1%2F"),
  path.replace("/v1/", "/v1;a=b/"),
  path.replace("/v1/", "/V1/"),
  `${path}/`,
  `${path}%00`
]

const sourceUrls = [
  "https://user:hidden-word@example.com/a",
  "https://example.com\\\\@evil.example/a",
  "https:example.com/a",
  "https://exa\\tmple.com/a",
  "ext::sh -c id",
  "file:///etc/passwd",
  "ssh://example.com/a",
  "http://example.com/a"
]
const refs = ["--upload-pack=id", "a..b", "HEAD~1", "@{1}", "a b", "-x"]

const attempts = (target: Target, elsewhere: string): ReadonlyArray<Attempt> => {
  const owner = bearer(Redacted.value(target.token))
  const member = bearer(target.memberToken)
  const { id: sourceId, secret } = target.attacked
  const session = "/auth/session"
  const create = (row: string, body: string, held: ReadonlyArray<number>, more: Partial<Attempt> = {}): Attempt => ({
    row,
    method: "POST",
    path: "/api/v1/sources",
    headers: [owner, json],
    body,
    held,
    ...more
  })
  const source = (fields: Readonly<Record<string, unknown>>) =>
    JSON.stringify({ workspaceId: target.workspaceId, name: "walk", url: "https://example.com/a", ...fields })
  const hook = (row: string, headers: Attempt["headers"]): Attempt => ({
    row,
    method: "POST",
    path: `/hooks/sources/${sourceId}`,
    headers: [json, ...(headers ?? [])],
    body: "{}",
    held: [401, 400]
  })
  const mirror = `/api/v1/workspaces/${target.workspaceId}`
  const get = (row: string, path: string, headers: Attempt["headers"], held: ReadonlyArray<number>): Attempt => ({
    row,
    method: "GET",
    path,
    held,
    ...(headers === undefined ? {} : { headers })
  })
  return [
    ...workspaceRoutes(elsewhere).map(
      ({ method, path }): Attempt => ({
        row: method === "GET" ? "Z1" : "Z2",
        method,
        path,
        headers: [member, json],
        body: method === "GET" ? "" : "{}",
        held: [403]
      })
    ),
    create("Z11", '{"name":"more","scopes":["read"]}', [403], { path: "/api/v1/account/tokens" }),
    get("Z11", "/api/v1/account/tokens", [owner], [403]),
    create("Z15", `{"email":"new@example.com","role":"owner"}`, [403], {
      path: `${mirror}/members`,
      headers: [member, json]
    }),
    get("Z21", `/api/v1/account/tokens/current?token=${Redacted.value(target.token)}`, [], [401]),
    get("Z21", "/api/v1/account/tokens/current", [["cookie", `svc_session=${Redacted.value(target.token)}`]], [401]),
    ...["/v1/capsules", "/v1/workspaces", "/v1"].map((path) => get("Z23", path, [owner], [404])),
    ...["/internal/v1/runs", "/metrics", "/debug", "/admin"].map((path) => get("Z24", path, [owner], [404])),
    ...["TRACE", "OPTIONS", "PUT", "DELETE", "PROPFIND"].map(
      (method): Attempt => ({ row: "Z25", method, path: "/api/v1/workspaces", headers: [owner], held: [405, 501, 400] })
    ),
    get("Z25", "/api/v1/workspaces", [owner, ["x-http-method-override", "DELETE"]], [200]),
    ...spellings(`/api/v1/workspaces/${elsewhere}/members`).map((path) => get("Z26", path, [member], [400, 403, 404])),
    ...["", " ", "a b", "x".repeat(300)].map((key) =>
      create("I5", "{}", [400], { path: `${mirror}/install-plans`, headers: [owner, json, ["idempotency-key", key]] })
    ),
    create("I6", "{}", [400], {
      path: `${mirror}/install-plans`,
      headers: [owner, json, ["idempotency-key", "one"], ["idempotency-key", "two"]]
    }),
    ...sourceUrls.map((url) => create("G5, G6", source({ url }), [400], { hidden: "hidden-word" })),
    ...refs.map((defaultRef) => create("G7", source({ defaultRef }), [400])),
    create("J2", "[".repeat(200_000), [400]),
    create("J3", '{"name":"a","name":"b"}', [400]),
    create("J4", source({}).replace("{", '{"__proto__":{"role":"owner"},'), [400]),
    create("J5", `\u{feff}${source({})}`, [400]),
    create("J8", source({ name: "\u200b" }), [400]),
    create("J13", source({ id: "src_mine", workspace_id: elsewhere, status: "active" }), [400]),
    create("J14", source({ url: 7, name: [] }), [400]),
    get("H1", "/api/v1/workspaces?limit=1&limit=2", [owner], [400]),
    get("H1", "/api/v1/workspaces?unknown=1", [owner], [400]),
    get("H1", "/api/v1/workspaces?limit=0x10", [owner], [400]),
    get("H2", "/api/v1/workspaces?cursor=AAAA", [owner], [400]),
    get("H3", "/api/v1/workspaces", [owner, member], [400, 401]),
    get("H3", "/api/v1/workspaces", [owner, ["x-svc-account-session", "svcs_x"]], [400, 401]),
    create("H4", source({ name: "x".repeat(1_100_000) }), [413]),
    create("H4", source({}), [415], { headers: [owner, json, ["content-encoding", "gzip"]] }),
    create("H6", source({}), [400], { headers: [owner, json, ["content-length", "5"], ["content-length", "50"]] }),
    create("H6", "0\r\n\r\nGET /healthz HTTP/1.1\r\n\r\n", [400], {
      headers: [owner, json, ["content-length", "5"], ["transfer-encoding", "chunked"]]
    }),
    get("H7", "/.well-known/openid-configuration", [["host", "evil.example"]], [200, 400, 404, 421]),
    get("H9", "/api/v1/workspaces", [owner, evil], [200]),
    { row: "H9", method: "OPTIONS", path: "/api/v1/workspaces", headers: [evil], held: [405] },
    create("H8", source({}), [415], { headers: [owner, ["content-type", "text/plain"]] }),
    get("H11", "/api/v1/workspaces", [owner, ["host", "a b"]], [400, 200]),
    get("H12", "/api/v1/nothing%0d%0aset-cookie:a=b", [owner, ["x-request-id", "mine"]], [404]),
    hook("W1", []),
    hook("W1", [["x-hub-signature-256", signatureOf("another secret", "{}")]]),
    hook("W1", [["x-hub-signature-256", signatureOf(secret, "{ }")]]),
    hook("W2", [["x-hub-signature-256", "sha256=00"]]),
    hook("W2", [["authorization", "Bearer x"]]),
    get("S2", session, [["cookie", "svc_session=svcs_a; svc_session=svcs_b"]], [401]),
    ...[{ "sec-fetch-site": "cross-site" }, { origin: "https://evil.example" }, { "sec-fetch-site": "same-site" }].map(
      (from): Attempt => ({
        row: "S3",
        method: "POST",
        path: "/auth/sign-in",
        headers: [json, ...Object.entries(from)],
        body: JSON.stringify({ email: target.memberEmail, password: "wrong password" }),
        held: [403]
      })
    ),
    get(
      "S6",
      `/api/v1/runs/run_none/stream`,
      [
        ["upgrade", "websocket"],
        ["origin", "https://evil.example"]
      ],
      [401, 403, 404]
    ),
    get("Q1", "/api/v1/runs/run_00000000000000000000", [owner], [404]),
    get("Q2", "/api/v1/capsules/cap_'%20OR%201=1--", [owner], [400, 404]),
    get("Q2", "/api/v1/workspaces?cursor='%20OR%201=1--", [owner], [400])
  ]
}

/** The rows of the walk that consist of HTTP requests. */
const walk: Attack = {
  name: "walk: rows of the attack walk over HTTP",
  run: Effect.fnUntraced(function* (target) {
    const { workspace } = yield* target.client.workspaces.create({
      payload: { handle: "elsewhere", displayName: "Elsewhere" }
    })
    const all = attempts(target, workspace.id)
    const broken = yield* Effect.forEach(
      all,
      Effect.fnUntraced(function* (attempt) {
        const { statuses, text } = yield* wire(target, attempt)
        const isHeld = statuses.length === 1 && attempt.held.includes(statuses[0] ?? 0)
        const isHidden = attempt.hidden === undefined || !text.includes(attempt.hidden)
        const isOwn = !text.includes("evil.example") && !/^set-cookie: a=b/im.test(text)
        // Checks H9 and H10 on every response. The issuer's metadata is public, and a malformed request gets no content.
        const isMarked = /^x-content-type-options: nosniff/im.test(text) || !/^content-type/im.test(text)
        const isOpen = /^access-control-allow-origin/im.test(text) && !attempt.path.startsWith("/.well-known/")
        return isHeld && isHidden && isOwn && isMarked && !isOpen
          ? []
          : [`${attempt.row} ${attempt.method} ${attempt.path.slice(0, 120)}: ${statuses.join(", ")}`]
      }),
      { concurrency: 4 }
    )
    yield* holds(broken.flat().length === 0, `These did not hold:\n${broken.flat().join("\n")}`)
    return all.length
  })
}

export const walkAttacks: ReadonlyArray<Attack> = [walk]
