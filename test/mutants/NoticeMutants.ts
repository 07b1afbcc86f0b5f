import type { Mutant } from "./Mutant.ts"

const delivery = "test/actors/base/notice/NoticeDelivery.test.ts"
const formats = "test/actors/base/notice/NoticeFormats.test.ts"
const mailing = "test/actors/access/notice/NoticeMailing.test.ts"
const post = "test/runner/probe/NoticePost.test.ts"
const routes = "test/src/http/Notices.test.ts"

/** Mutants of notices: without the guards, notices reach the wrong receiver, are lost, or disclose data. */
export const noticeMutants: ReadonlyArray<Mutant> = [
  {
    name: "notice: only endpoints of its Workspace and of the server",
    file: "actors/base/notice/Notices.ts",
    text: "AND (workspace_id = ${notice.workspaceId} OR (workspace_id IS NULL AND ${forServer ? 1 : 0} = 1))",
    broken: "AND (1 = 1 OR workspace_id = ${notice.workspaceId} OR ${forServer ? 1 : 0} = 1)",
    test: delivery
  },
  {
    name: "notice: the filter of an endpoint",
    file: "actors/base/notice/Notices.ts",
    text: "endpoints.filter(({ filter }) => passes(filter, notice.capsule))",
    broken: "endpoints.filter(({ filter }) => passes(filter, notice.capsule) || true)",
    test: routes
  },
  {
    name: "notice: endpoints of another Workspace",
    file: "actors/access/notice/NoticeEndpoints.ts",
    text: "SELECT * FROM notice_endpoints WHERE id = ${id} AND ${belongsTo(client, scope)}",
    broken: "SELECT * FROM notice_endpoints WHERE id = ${id} OR (id = ${id} AND ${belongsTo(client, scope)})",
    test: delivery
  },
  {
    name: "notice: only admins, as of the transaction",
    file: "actors/access/notice/NoticeEndpoints.ts",
    text: 'if (held === undefined || !roleAtLeast(held, "admin")) {',
    broken: 'if (held !== undefined && !roleAtLeast(held, "admin")) {',
    test: delivery
  },
  {
    name: "notice: an address of the operator's policy only",
    file: "runner/probe/NoticePost.ts",
    text: "originProblem(read, request) !== undefined",
    broken: "originProblem(read, request) === null",
    test: post
  },
  {
    name: "notice: no redirects",
    file: "runner/probe/NoticePost.ts",
    text: "if (status >= 200 && status < 300)",
    broken: "if (status >= 200 && status < 400)",
    test: post
  },
  {
    name: "notice: an earlier one of the subject goes first",
    file: "actors/base/notice/NoticeDelivery.ts",
    text: "AND e.next_at > ${at} AND e.created_at > ${held})",
    broken: "AND e.next_at > ${at} AND e.created_at > ${held} AND 1 = 0)",
    test: delivery
  },
  {
    name: "notice: the signature of the previous secret ends",
    file: "actors/base/notice/NoticeDelivery.ts",
    text: "endpoint.former_secret_until > at",
    broken: "(endpoint.former_secret_until > at || true)",
    test: delivery
  },
  {
    name: "notice: mentions of a chat",
    file: "actors/base/notice/NoticeFormats.ts",
    text: '.replaceAll("<", "&lt;")',
    broken: "",
    test: formats
  },
  {
    name: "notice by mail: only to people who may approve",
    file: "actors/access/notice/NoticeMailing.ts",
    text: 'Effect.map(({ own }) => own.status === "counts")',
    broken: 'Effect.map(({ own }) => own.status !== "given")',
    test: mailing
  },
  {
    name: "notice by mail: not to a person who left",
    file: "actors/base/mail/MailDelivery.ts",
    text: "if (!(yield* isStillReader(row))) return",
    broken: "if ((yield* isStillReader(row)) === undefined) return",
    test: mailing
  },
  {
    name: "notice: a restored endpoint waits for somebody",
    file: "actors/base/notice/Notices.ts",
    text: 'state: "disabled", reason: "restored"',
    broken: 'state: "active", reason: "restored"',
    test: delivery
  }
]
