import type { NoticeDelivery, NoticeKind } from "../api/Types.ts"

const en: Readonly<Record<NoticeDelivery["kind"], string>> = {
  "run.waiting_approval": "A plan waits for approval",
  "run.approved": "A plan was approved",
  "run.applied": "A plan was applied",
  "run.failed": "A run failed",
  "run.unknown": "The result of an apply is unknown",
  "run.cancelled": "A run was cancelled or discarded",
  "drift.found": "Drift was found",
  "drift.gone": "Drift is resolved",
  "source.broken": "A source cannot be read",
  "source.healed": "A source can be read again",
  "update.available": "An update is available",
  "connection.expiring": "A connection expires soon",
  "connection.failing": "A connection does not work",
  "agent.unreachable": "An agent is unreachable",
  "agent.back": "An agent is back",
  "backup.failed": "A backup failed",
  "backup.unverified": "No backup was verified recently",
  "share.requested": "Outputs were requested",
  "invitation.accepted": "An invitation was accepted",
  "rule.changed": "An approval rule changed",
  "endpoint.test": "Test"
}

const ja: typeof en = {
  "run.waiting_approval": "プランが承認を待っています",
  "run.approved": "プランが承認されました",
  "run.applied": "プランが適用されました",
  "run.failed": "実行が失敗しました",
  "run.unknown": "適用の結果を確認できません",
  "run.cancelled": "実行が取り消されました",
  "drift.found": "ドリフトが見つかりました",
  "drift.gone": "ドリフトが解消しました",
  "source.broken": "ソースを読み取れません",
  "source.healed": "ソースを再び読み取れます",
  "update.available": "更新があります",
  "connection.expiring": "接続の期限が近づいています",
  "connection.failing": "接続が機能していません",
  "agent.unreachable": "エージェントに到達できません",
  "agent.back": "エージェントが復帰しました",
  "backup.failed": "バックアップに失敗しました",
  "backup.unverified": "最近検証されたバックアップがありません",
  "share.requested": "出力の共有が申請されました",
  "invitation.accepted": "招待が承諾されました",
  "rule.changed": "承認ルールが変更されました",
  "endpoint.test": "テスト"
}

export const noticeKindWords = { en, ja }

const isKind = (key: string): key is NoticeKind => key in en && key !== "endpoint.test"

/** All kinds to which a person or an endpoint can subscribe, in display order. */
export const noticeKinds: ReadonlyArray<NoticeKind> = Object.keys(en).filter(isKind)
