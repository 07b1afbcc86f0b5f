import type { OrphanedState } from "../../api/Types.ts"
import { counted } from "../../words/Format.ts"

type Reasons = Readonly<Record<OrphanedState["reason"], string>>

const reasonsEn: Reasons = {
  lineage_changed: "Its lineage differs from the lineage of this capsule's state.",
  serial_decreased: "It is older than the state of this capsule.",
  unreadable: "It could not be read completely.",
  handed_in: "Its agent submitted it after svc had given the agent up.",
  unknown: "An earlier version of svc stored it without a reason."
}

const en = {
  title: "An apply left a state that svc did not take",
  about: "It may list objects that are missing from the current state. It is kept, sealed, until an owner decides.",
  reasons: reasonsEn,
  run: "The apply that left it",
  facts: (serial: string, size: string) => `Serial ${serial}, ${size}`,
  unknown: "unknown",
  resources: (count: number) => counted(count, "resource"),
  inTheWay: "It cannot be adopted:",
  adopt: "Adopt",
  discard: "Discard",
  adoptTitle: (name: string) => `Adopt this state for ${name}?`,
  adoptText:
    "It becomes this capsule's state. No infrastructure changes, waiting plans become void, and the capsule stays in error until a new plan is applied.",
  adopted: "The state was adopted. Make a plan next, and review its changes.",
  discardTitle: "Discard this state?",
  discardText:
    "It is erased permanently. Objects that only this state lists must be found and removed by hand. The operator of svc can download it first, with this command:",
  discarded: "The state was discarded.",
  ownerOnly: "Only an owner of this workspace can adopt or discard it."
}

const reasonsJa: Reasons = {
  lineage_changed: "このカプセルのステートとは別の系統 (lineage) のものです。",
  serial_decreased: "このカプセルのステートより古いものです。",
  unreadable: "全体を読み取れませんでした。",
  handed_in: "応答のないエージェントを打ち切った後に、そのエージェントから提出されました。",
  unknown: "以前のバージョンの svc が、理由を記録せずに保管したものです。"
}

const ja: typeof en = {
  title: "適用が残したステートを、svc は採用しませんでした",
  about: "現在のステートにないオブジェクトを含む可能性があります。オーナーが判断するまで、暗号化して保管されます。",
  reasons: reasonsJa,
  run: "このステートを残した適用",
  facts: (serial: string, size: string) => `シリアル ${serial}、${size}`,
  unknown: "不明",
  resources: (count: number) => `リソース ${count} 件`,
  inTheWay: "次の理由で採用できません:",
  adopt: "採用",
  discard: "破棄",
  adoptTitle: (name: string) => `このステートを ${name} に採用しますか？`,
  adoptText:
    "このカプセルのステートになります。インフラは変更されません。待機中のプランは無効になり、新しいプランを適用するまでカプセルはエラーのままです。",
  adopted: "ステートを採用しました。次にプランを作成し、結果を確認してください。",
  discardTitle: "このステートを破棄しますか？",
  discardText:
    "完全に消去されます。このステートにしかないオブジェクトは、手作業で探して削除する必要があります。svc の運用者は、次のコマンドで先にダウンロードできます:",
  discarded: "ステートを破棄しました。",
  ownerOnly: "採用と破棄には、ワークスペースのオーナー権限が必要です。"
}

export const orphanedStateWords = { en, ja }
