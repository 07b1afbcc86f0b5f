import { createHmac } from "node:crypto"
import { afterAll, describe, expect, test } from "bun:test"
import { Effect, Layer } from "effect"
import { Headers } from "effect/http"
import { deliveryOf } from "../../../src/http/DeliveryHeaders.ts"
import { mostDeliveryBytes } from "../../../src/http/SourceHooks.ts"
import { suite } from "../../support/Effect.ts"
import { TestApplication } from "./support/TestApplication.ts"
import { TestServer } from "./support/TestServer.ts"
import { world } from "./support/World.ts"

const tests = suite(TestServer.layer.pipe(Layer.provideMerge(TestApplication.layer)))
afterAll(tests.dispose)

const secret = "hook-secret"
const hmac = (algorithm: "sha1" | "sha256", body: string) => createHmac(algorithm, secret).update(body).digest("hex")
const basic = (user: string, password: string) => `Basic ${btoa(`${user}:${password}`)}`
const uuid = "f6266f16-1bf3-46a5-9ea4-602e06ead473"
const commit = "82b3d5ae55f7080f1e6022629cdb57bfae7cccc7"
const json = { "content-type": "application/json" }

interface ForgeDelivery {
  readonly body: string
  readonly headers: Record<string, string>
  readonly deliveryId?: string
  readonly isPing?: boolean
}

const githubHeaders = (event: string, body: string) => ({
  ...json,
  accept: "*/*",
  "user-agent": "GitHub-Hookshot/7f1c2d3",
  "x-github-delivery": uuid,
  "x-github-event": event,
  "x-github-hook-id": "292430182",
  "x-github-hook-installation-target-id": "79929171",
  "x-github-hook-installation-target-type": "repository",
  "x-hub-signature": `sha1=${hmac("sha1", body)}`,
  "x-hub-signature-256": `sha256=${hmac("sha256", body)}`
})

const push = JSON.stringify({
  ref: "refs/heads/main",
  before: "0".repeat(40),
  after: commit,
  created: false,
  deleted: false,
  forced: false,
  repository: { id: 1, full_name: "acme/network", default_branch: "main" },
  pusher: { name: "ada" },
  commits: [{ id: commit, message: "Naïve “quotes” ☃", added: [], removed: [], modified: ["main.tf"] }]
})
const zen = JSON.stringify({
  zen: "Keep it logically awesome.",
  hook_id: 1,
  hook: { type: "Repository", active: true }
})
const form = `payload=${encodeURIComponent(push)}`

/** Gitea sends its own headers and the headers of its predecessors. Forgejo, a fork of Gitea, adds more headers. */
const giteaHeaders = (body: string, own: string) => ({
  ...json,
  "user-agent": "Go-http-client/1.1",
  [`x-${own}-delivery`]: uuid,
  [`x-${own}-event`]: "push",
  [`x-${own}-event-type`]: "push",
  [`x-${own}-signature`]: hmac("sha256", body),
  "x-gitea-delivery": uuid,
  "x-gitea-event": "push",
  "x-gitea-signature": hmac("sha256", body),
  "x-gogs-delivery": uuid,
  "x-gogs-event": "push",
  "x-gogs-event-type": "push",
  "x-gogs-signature": hmac("sha256", body),
  "x-github-delivery": uuid,
  "x-github-event": "push",
  "x-github-event-type": "push",
  "x-hub-signature": `sha1=${hmac("sha1", body)}`,
  "x-hub-signature-256": `sha256=${hmac("sha256", body)}`
})
/** If no secret is configured, a forge sends empty signature headers. */
const withoutSecret = {
  "x-gitea-signature": "",
  "x-gogs-signature": "",
  "x-hub-signature": "sha1=",
  "x-hub-signature-256": "sha256="
}

const gitlabPush = JSON.stringify({
  object_kind: "push",
  event_name: "push",
  before: "0".repeat(40),
  after: commit,
  ref: "refs/heads/main",
  checkout_sha: commit,
  project: { id: 15, path_with_namespace: "acme/network", default_branch: "main" },
  total_commits_count: 1
})
const gitlabHeaders = {
  ...json,
  "user-agent": "GitLab/18.2.0",
  "idempotency-key": uuid,
  "x-gitlab-event": "Push Hook",
  "x-gitlab-webhook-uuid": "13792a34-cac6-4fda-95a8-c58e00a3954e",
  "x-gitlab-instance": "https://gitlab.example.test",
  "x-gitlab-event-uuid": "0b7a3a3e-7a4b-4f55-b1d8-1f3d1a7d4b11"
}
const standardHeaders = {
  "webhook-id": uuid,
  "webhook-timestamp": "1790000000",
  "webhook-signature": `v1,${createHmac("sha256", Buffer.from(secret, "base64url")).update(`${uuid}.1790000000.${gitlabPush}`).digest("base64")}`
}

const bitbucketPush = JSON.stringify({
  push: { changes: [{ new: { type: "branch", name: "main", target: { hash: commit } }, old: null }] },
  repository: { full_name: "acme/network" },
  actor: { nickname: "ada" }
})
const bitbucketCloudHeaders = {
  "content-type": "application/json; charset=utf-8",
  "user-agent": "Bitbucket-Webhooks/2.0",
  "x-attempt-number": "1",
  "x-event-key": "repo:push",
  "x-event-time": "Mon, 23 Nov 2026 10:00:00 UTC",
  "x-hook-uuid": "6a8f1a0c-6b1a-4c0d-8f3e-0b8c4f9b8a51",
  "x-request-uuid": uuid
}
const refsChanged = JSON.stringify({
  eventKey: "repo:refs_changed",
  changes: [{ ref: { id: "refs/heads/main", displayId: "main", type: "BRANCH" }, toHash: commit, type: "UPDATE" }]
})
const dataCenterHeaders = (key: string) => ({
  "content-type": "application/json; charset=UTF-8",
  "user-agent": "Atlassian HttpClient 4.2.0 / Bitbucket-8.19.1 (8019001) / Default",
  "x-event-key": key,
  "x-request-id": uuid
})
const connectionTest = '{"test": true}'

const gitPush = JSON.stringify({
  subscriptionId: "00000000-0000-0000-0000-000000000000",
  notificationId: 3,
  id: "03c164c2-8912-4d5e-8009-3707d5f83734",
  eventType: "git.push",
  publisherId: "tfs",
  resource: {
    refUpdates: [{ name: "refs/heads/main", oldObjectId: "0".repeat(40), newObjectId: commit }],
    repository: { name: "network", defaultBranch: "refs/heads/main" },
    pushId: 14
  },
  resourceVersion: "1.0"
})
const azureHeaders = { "content-type": "application/json; charset=utf-8", "user-agent": "VSServices/18.0" }

const github: ReadonlyArray<readonly [string, ForgeDelivery]> = [
  ["a push of GitHub", { body: push, headers: githubHeaders("push", push), deliveryId: uuid }],
  ["a ping of GitHub", { body: zen, headers: githubHeaders("ping", zen), deliveryId: uuid, isPing: true }],
  ["an event of GitHub that svc does not know", { body: zen, headers: githubHeaders("star", zen), deliveryId: uuid }],
  [
    "a push of GitHub as a form",
    {
      body: form,
      headers: { ...githubHeaders("push", form), "content-type": "application/x-www-form-urlencoded" },
      deliveryId: uuid
    }
  ]
]
const accepted: ReadonlyArray<readonly [string, ForgeDelivery]> = [
  ...github,
  ["a push of Gitea", { body: push, headers: giteaHeaders(push, "gitea"), deliveryId: uuid }],
  ["a push of Forgejo", { body: push, headers: giteaHeaders(push, "forgejo"), deliveryId: uuid }],
  [
    "a push of Gitea with an Authorization header",
    { body: push, headers: { ...giteaHeaders(push, "gitea"), authorization: `Bearer ${secret}` }, deliveryId: uuid }
  ],
  [
    "a push of Gitea with an Authorization header and no secret",
    {
      body: push,
      headers: { ...giteaHeaders(push, "gitea"), ...withoutSecret, authorization: `Bearer ${secret}` },
      deliveryId: uuid
    }
  ],
  [
    "a push of Gogs",
    {
      body: push,
      headers: { ...json, "x-gogs-delivery": uuid, "x-gogs-event": "push", "x-gogs-signature": hmac("sha256", push) },
      deliveryId: uuid
    }
  ],
  [
    "a push of GitLab with a secret token",
    { body: gitlabPush, headers: { ...gitlabHeaders, "x-gitlab-token": secret }, deliveryId: uuid }
  ],
  [
    "a push of GitLab with a signing token",
    { body: gitlabPush, headers: { ...gitlabHeaders, ...standardHeaders }, deliveryId: uuid }
  ],
  [
    "a push of GitLab with both tokens",
    {
      body: gitlabPush,
      headers: { ...gitlabHeaders, ...standardHeaders, "x-gitlab-token": secret },
      deliveryId: uuid
    }
  ],
  [
    "a push of Bitbucket Cloud",
    {
      body: bitbucketPush,
      headers: { ...bitbucketCloudHeaders, "x-hub-signature": `sha256=${hmac("sha256", bitbucketPush)}` },
      deliveryId: uuid
    }
  ],
  [
    "a push of Bitbucket Data Center",
    {
      body: refsChanged,
      headers: {
        ...dataCenterHeaders("repo:refs_changed"),
        "x-hub-signature": `sha256=${hmac("sha256", refsChanged)}`
      },
      deliveryId: uuid
    }
  ],
  [
    "the connection test of Bitbucket Data Center",
    {
      body: connectionTest,
      headers: {
        ...dataCenterHeaders("diagnostics:ping"),
        "x-hub-signature": `sha256=${hmac("sha256", connectionTest)}`
      },
      deliveryId: uuid,
      isPing: true
    }
  ],
  ["a push of Azure DevOps", { body: gitPush, headers: { ...azureHeaders, authorization: basic("svc", secret) } }],
  [
    "a push of Azure DevOps without a user name",
    { body: gitPush, headers: { ...azureHeaders, authorization: basic("", secret) } }
  ],
  ["a plain request with the secret as a bearer", { body: "", headers: { authorization: `bearer ${secret}` } }],
  [
    "a plain request with a signature",
    { body: "{}", headers: { ...json, "x-hub-signature-256": `sha256=${hmac("sha256", "{}")}` } }
  ]
]

const sha1Only = { ...json, "x-hub-signature": `sha1=${hmac("sha1", push)}` }
const refused: ReadonlyArray<readonly [string, ForgeDelivery]> = [
  ["a request without a proof", { body: push, headers: json }],
  [
    "a push of GitHub whose body was changed",
    { body: push.replace("main", "evil"), headers: githubHeaders("push", push) }
  ],
  ["a ping whose body was changed", { body: `${zen} `, headers: githubHeaders("ping", zen) }],
  ["a signature by SHA-1 alone", { body: push, headers: sha1Only }],
  [
    "a push of Gitea without a secret or an Authorization header",
    { body: push, headers: { ...giteaHeaders(push, "gitea"), ...withoutSecret } }
  ],
  [
    "a push of Gitea with a right signature and a wrong bearer",
    { body: push, headers: { ...giteaHeaders(push, "gitea"), authorization: "Bearer wrong" } }
  ],
  [
    "a push of Gitea with two different signatures",
    { body: push, headers: { ...giteaHeaders(push, "gitea"), "x-gitea-signature": hmac("sha256", gitlabPush) } }
  ],
  [
    "a push of Forgejo with a wrong signature of its own",
    { body: push, headers: { ...giteaHeaders(push, "forgejo"), "x-forgejo-signature": hmac("sha1", push) } }
  ],
  [
    "a push of GitLab with another token",
    { body: gitlabPush, headers: { ...gitlabHeaders, "x-gitlab-token": "wrong" } }
  ],
  [
    "a push of GitLab whose two tokens differ",
    { body: gitlabPush, headers: { ...gitlabHeaders, ...standardHeaders, "x-gitlab-token": "wrong" } }
  ],
  [
    "a push of GitLab with another time",
    { body: gitlabPush, headers: { ...gitlabHeaders, ...standardHeaders, "webhook-timestamp": "1790000001" } }
  ],
  [
    "the connection test of Bitbucket without a signature",
    { body: connectionTest, headers: dataCenterHeaders("diagnostics:ping") }
  ],
  [
    "a push of Bitbucket with a bare signature",
    { body: bitbucketPush, headers: { ...bitbucketCloudHeaders, "x-hub-signature": hmac("sha256", bitbucketPush) } }
  ],
  [
    "a push of Azure DevOps with another password",
    { body: gitPush, headers: { ...azureHeaders, authorization: basic("svc", "wrong") } }
  ],
  [
    "a push of Azure DevOps with the secret as the user name",
    { body: gitPush, headers: { ...azureHeaders, authorization: basic(secret, "") } }
  ],
  ["credentials that are not Base64", { body: gitPush, headers: { ...azureHeaders, authorization: "Basic ?" } }],
  [
    "two signatures in one header",
    { body: "{}", headers: { ...json, "x-hub-signature-256": `sha256=${hmac("sha256", "{}")}, sha256=0` } }
  ]
]

const deliver = Effect.fnUntraced(function* (init: RequestInit) {
  const { port } = yield* TestServer
  const url = `http://127.0.0.1:${port}/hooks/sources/${world.sourceId}`
  const answer = yield* Effect.promise(() => fetch(url, { method: "POST", ...init }))
  return { status: answer.status, body: (yield* Effect.promise(() => answer.json())) as unknown }
})

describe("Accepted webhooks", () => {
  for (const [name, { body, headers, deliveryId, isPing = false }] of accepted) {
    tests.live(name, () =>
      Effect.gen(function* () {
        const answer = { accepted: true, runIds: isPing ? [] : [body] }
        expect(yield* deliver({ body, headers })).toEqual({ status: isPing ? 200 : 202, body: answer })
        expect(deliveryOf(Headers.fromInput(headers))).toMatchObject({ deliveryId, isPing })
      })
    )
  }
})

describe("Refused webhooks", () => {
  for (const [name, { body, headers }] of refused) {
    tests.live(name, () =>
      Effect.gen(function* () {
        const { body: answer, status } = yield* deliver({ body, headers })
        expect(status).toBe(401)
        expect(answer).toMatchObject({ error: { code: "unauthenticated" } })
        expect(JSON.stringify(answer)).not.toContain(secret)
      })
    )
  }
})

test("the event id from GitLab is not a delivery id, because related events share an event id", () => {
  const headers = { "x-gitlab-event": "Push Hook", "x-gitlab-token": secret, "x-gitlab-event-uuid": uuid }
  expect(deliveryOf(Headers.fromInput(headers)).deliveryId).toBeUndefined()
})

test("svc does not use the request id of a proxy as a delivery id", () => {
  expect(deliveryOf(Headers.fromInput({ "x-request-id": uuid })).deliveryId).toBeUndefined()
})

const piece = new Uint8Array(512 * 1024).fill(120)

/** Builds a signed request that is sent in chunks without a length. */
const chunked = (bytes: number): RequestInit => {
  const hash = createHmac("sha256", secret)
  const sizes = Array.from({ length: Math.ceil(bytes / piece.length) }, (_, index) =>
    Math.min(piece.length, bytes - index * piece.length)
  )
  for (const size of sizes) hash.update(piece.subarray(0, size))
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      const size = sizes.shift()
      if (size === undefined) controller.close()
      else controller.enqueue(piece.slice(0, size))
    }
  })
  const headers = { ...json, "x-github-event": "push", "x-hub-signature-256": `sha256=${hash.digest("hex")}` }
  return { body, headers }
}

tests.live("a webhook accepts 25 MiB in chunks without a length, and rejects one byte more", () =>
  Effect.gen(function* () {
    expect((yield* deliver(chunked(mostDeliveryBytes))).status).toBe(202)
    expect(yield* deliver(chunked(mostDeliveryBytes + 1))).toMatchObject({
      status: 413,
      body: { error: { code: "request_too_large" } }
    })
  })
)
