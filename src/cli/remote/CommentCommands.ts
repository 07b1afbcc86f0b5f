import { Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import type { RunComment } from "../../../schema/records/RunComment.ts"
import { SvcClient } from "../../client/SvcClient.ts"
import { memberNamed, memberNames } from "../member/MemberCommands.ts"
import { print } from "../Output.ts"
import { anyNumber } from "../ValueFlags.ts"
import { allPages } from "./Pages.ts"
import { onServer } from "./Remote.ts"
import { idempotencyKeyFlag, keyHeaders, workspaceFlags } from "./RemoteFlags.ts"
import { timeText } from "./Rows.ts"
import { runArgument } from "./RunArgument.ts"
import { runNamed } from "./Selection.ts"
import { terminalText } from "./TerminalText.ts"

const any = () => true

export const commentCommand = Command.make(
  "comment",
  {
    ...workspaceFlags,
    idempotencyKey: idempotencyKeyFlag,
    mention: Flag.String("mention").pipe(
      Flag.withDescription("Address or subject of a member to notify by mail; may be repeated"),
      Flag.withMetavar("member"),
      anyNumber
    ),
    run: runArgument,
    text: Argument.String("text").pipe(Argument.withDescription("The comment; svc masks known secrets in it"))
  },
  Effect.fn("run comment")((given) =>
    Effect.gen(function* () {
      const client = yield* SvcClient
      const { id, workspaceId } = yield* runNamed(given.run, given.workspace, any, "Run")
      const mentions = yield* Effect.forEach(given.mention, (named) => memberNamed(workspaceId, named))
      const { comment } = yield* client.comments.write({
        params: { runId: id },
        headers: yield* keyHeaders(given.idempotencyKey),
        payload: { text: given.text, mentions: mentions.map(({ subject }) => subject) }
      })
      yield* print(given.json, { comment }, `Commented on ${id}.`)
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription("Comment on a Run, for everybody who can read it"),
  Command.withExamples([
    {
      command: 'svc run comment network "Please wait for the release." --mention bob@example.com',
      description: "On the newest Run of a Capsule"
    }
  ])
)

const commentText = ({ author, createdAt, id, text }: RunComment, names: ReadonlyMap<string, string>) => {
  const lines = text === undefined ? ["(removed)"] : text.split(/\r?\n/).map(terminalText)
  const head = `${timeText(createdAt) ?? ""}  ${terminalText(names.get(author) ?? author)}  ${id}`
  return [head, ...lines.map((line) => `  ${line}`)].join("\n")
}

export const commentsCommand = Command.make(
  "comments",
  { ...workspaceFlags, run: runArgument },
  Effect.fn("run comments")((given) =>
    Effect.gen(function* () {
      const client = yield* SvcClient
      const { id, workspaceId } = yield* runNamed(given.run, given.workspace, any, "Run")
      const comments = yield* allPages((query) =>
        Effect.map(client.comments.list({ params: { runId: id }, query }), ({ comments: items, nextCursor }) => ({
          items,
          nextCursor
        }))
      )
      if (given.json) return yield* print(true, { comments }, "")
      // Continue without names, because a token that is limited to Projects cannot list the members.
      const names = yield* Effect.orElseSucceed(memberNames(workspaceId), () => new Map<string, string>())
      const text = comments.map((comment) => commentText(comment, names)).join("\n\n")
      yield* print(false, comments, comments.length === 0 ? "Nobody has commented on this Run." : text)
    }).pipe(onServer(given))
  )
).pipe(Command.withDescription("List the comments on a Run, oldest first"))
