import { Effect, Layer } from "effect"
import { NoticeMailing } from "../../actors/access/notice/NoticeMailing.ts"
import { ExclusiveWork } from "../../actors/base/node/ExclusiveWork.ts"
import { NoticeDelivery } from "../../actors/base/notice/NoticeDelivery.ts"
import { NoticeSettings } from "../../actors/base/notice/NoticeRows.ts"
import { HttpListener } from "../http/HttpListener.ts"
import type { Settings } from "../settings/Settings.ts"

/** The address of the server that notices contain, and the additional origins to which notices may be sent. */
export const noticeSettings = (settings: Settings) =>
  Layer.effect(
    NoticeSettings,
    Effect.map(HttpListener, ({ url }) => ({
      baseUrl: settings.baseUrl ?? url,
      allowOrigins: settings.noticeAllowOrigins
    }))
  )

/** Like `noticeSettings`, for a command that runs without a server and sends nothing. */
export const offlineNoticeSettings = (settings: Settings) =>
  Layer.succeed(NoticeSettings, {
    baseUrl: settings.baseUrl ?? "http://localhost",
    allowOrigins: settings.noticeAllowOrigins
  })

/** Sends notices and queues their emails in the background. */
export const noticeDelivery = Layer.effectDiscard(
  Effect.gen(function* () {
    const exclusive = yield* ExclusiveWork
    yield* Effect.forkScoped(exclusive.during("notices")((yield* NoticeDelivery).follow))
    yield* Effect.forkScoped(exclusive.during("notice-mails")((yield* NoticeMailing).follow))
  })
).pipe(Layer.provide(Layer.mergeAll(NoticeDelivery.layer, NoticeMailing.layer)))
