import type { Agent } from "../../api/Types.ts"
import { counted } from "../../words/Format.ts"

const en = {
  noneTitle: "No pool of agents",
  noneText:
    "This workspace has no pool, so the server executes its runs. The operator creates and assigns pools; you then start an agent on one of your machines.",
  about: (places: number, runs: number) =>
    places === 0
      ? "No agent can accept a run now."
      : `${runs} of ${places} places taken, by all workspaces that share it.`,
  queued: (count: number) => `${counted(count, "run of this workspace waits", "runs of this workspace wait")}.`,
  lease: (minutes: number) => `svc gives an apply up ${counted(minutes, "minute")} after its agent's last message.`,
  isolation: (level: string) => `Agents isolate at least by: ${level}.`,
  agentsNone: "No agent is enrolled",
  agentsNoneText: "Runs of this pool wait until somebody starts an agent with an enrolment token from the operator.",
  statuses: { connected: "Connected", draining: "Draining", silent: "Silent", revoked: "Revoked" } satisfies Record<
    Agent["status"],
    string
  >,
  drainingText: "finishes its runs and accepts no new ones",
  places: "Places",
  placesOf: (runs: number, places: number) => `${runs} of ${places} taken`,
  disk: "Disk",
  diskFree: (free: string, total: string) => `${free} of ${total} free`,
  diskLow: "nearly full: it accepts no new runs",
  contact: "Last contact",
  version: "Version",
  tools: "Tools",
  noTool: "none",
  isolates: "Isolation",
  labels: "Labels",
  levels: {
    bubblewrap: "sandbox",
    namespaces: "sandbox without bubblewrap",
    user_landlock: "own system user, restricted",
    landlock: "restricted, same user",
    seatbelt: "restricted by macOS",
    process: "none"
  } satisfies Record<Agent["isolation"], string>,
  more: "Show more agents"
}

const ja: typeof en = {
  noneTitle: "エージェントのプールはありません",
  noneText:
    "このワークスペースにはプールがなく、実行はサーバー自身が行います。プールは運用者が作成して割り当て、エージェントはお使いのマシンで起動します。",
  about: (places, runs) =>
    places === 0
      ? "現在、実行を受け付けられるエージェントはありません。"
      : `${places} 枠中 ${runs} 枠を使用中（共有するすべてのワークスペースの合計）`,
  queued: (count) => `このワークスペースの実行 ${count} 件が待機しています。`,
  lease: (minutes) => `適用は、エージェントからの最後の連絡から ${minutes} 分で打ち切られます。`,
  isolation: (level) => `エージェントに求める最低限の隔離: ${level}`,
  agentsNone: "登録されたエージェントはありません",
  agentsNoneText: "運用者の登録トークンでエージェントが起動されるまで、このプールの実行は待機します。",
  statuses: { connected: "接続中", draining: "停止準備中", silent: "応答なし", revoked: "失効" },
  drainingText: "進行中の実行を終えるまで動作し、新しい実行は受け付けません",
  places: "枠",
  placesOf: (runs, places) => `${places} 枠中 ${runs} 枠を使用中`,
  disk: "ディスク",
  diskFree: (free, total) => `${total} 中 ${free} 空き`,
  diskLow: "空きがほとんどないため、新しい実行を受け付けません",
  contact: "最後の連絡",
  version: "バージョン",
  tools: "ツール",
  noTool: "なし",
  isolates: "隔離",
  labels: "ラベル",
  levels: {
    bubblewrap: "サンドボックス",
    namespaces: "サンドボックス（bubblewrap なし）",
    user_landlock: "専用ユーザー・制限あり",
    landlock: "同じユーザー・制限あり",
    seatbelt: "macOS による制限",
    process: "なし"
  },
  more: "エージェントをさらに表示"
}

export const agentWords = { en, ja }
