import { Effect, Layer } from "effect"
import { NoticeDelivery } from "../../actors/base/notice/NoticeDelivery.ts"
import { NoticeSettings } from "../../actors/base/notice/NoticeRows.ts"
import { HttpListener } from "../http/HttpListener.ts"
import type { Settings } from "../settings/Settings.ts"

/** The server's address in notices, and the additional origins to which notices may be sent. */
export const noticeSettings = (settings: Settings) =>
  Layer.effect(
    NoticeSettings,
    Effect.map(HttpListener, ({ url }) => ({
      baseUrl: settings.baseUrl ?? url,
      allowOrigins: settings.noticeAllowOrigins
    }))
  )

/** Sends notices in the background. */
export const noticeDelivery = Layer.effectDiscard(
  Effect.flatMap(NoticeDelivery, ({ follow }) => Effect.forkScoped(follow))
).pipe(Layer.provideMerge(NoticeDelivery.layer))
