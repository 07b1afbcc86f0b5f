const en = {
  unreachable: (name: string) => `The agent ${name} is unreachable`,
  since: "Last heard of:",
  unanswered: (name: string) => `The agent ${name} receives no responses`,
  unansweredSince: "Last answer received:",
  unansweredMeans:
    "The agent's messages arrive, but the server's responses are lost. The agent repeats its messages; if no response arrives, it stops its tool before its lease ends.",
  planGivenUp:
    "The run changes nothing. If the agent is silent for a minute, another agent takes the run, or the run ends.",
  applyGoesOn:
    "Its tool may still be applying: it continues without the connection, and stops before the agent’s lease ends. Until then, the capsule accepts no other run.",
  givenUpAt: "If the agent remains silent, svc gives up the run at about:",
  release: "Release the capsule…",
  saved: "State kept by the server",
  savedNone: "none yet",
  serial: (serial: number) => `serial ${serial}`,
  atRisk: (serial: number) =>
    `The agent has a newer state (serial ${serial}). If its disk is lost, this state is lost. The agent sends the state when it is connected again.`,
  atRiskFirst:
    "So far, the results of this apply are only on the agent's disk. The agent sends them when it is connected again.",
  safe: "The agent did not report a newer state: no known data would be lost with its disk.",
  atRiskUnknown: "Everything the agent has written since its last message would be lost with its disk.",
  dialogTitle: (name: string) => `Release ${name} from its agent?`,
  risk: "The tool may still be applying on the agent's machine, and svc cannot stop it. A second apply at the same time can damage the infrastructure.",
  ends: "The run ends as failed. svc keeps the newest state that it has, and lists resources that may exist. It stores later reports of the agent as evidence with the run.",
  isDead: "I know that the machine, or the tool on it, is dead",
  isDeadHelp: "Silence is not enough: the machine must be switched off, deleted, or checked by somebody.",
  reason: "How do you know?",
  releaseAction: "Release",
  released: "Released",
  adminOnly: "An admin of this workspace can release the capsule earlier."
}

const ja: typeof en = {
  unreachable: (name) => `エージェント ${name} と連絡が取れません`,
  since: "最後の連絡:",
  unanswered: (name) => `エージェント ${name} に応答が届いていません`,
  unansweredSince: "最後に届いた応答:",
  unansweredMeans:
    "エージェントからの連絡は届いていますが、サーバーの応答が途中で失われています。エージェントは送信を繰り返し、応答が届かない場合はリースが切れる前にツールを停止します。",
  planGivenUp: "この実行は何も変更しません。1 分間連絡がなければ、別のエージェントが引き継ぐか、終了します。",
  applyGoesOn:
    "ツールはまだ適用中かもしれません。通信が切れても続行し、エージェントのリースが切れる前に必ず停止します。それまで、このカプセルはほかの実行を受け付けません。",
  givenUpAt: "連絡がないままの場合の打ち切り（目安）:",
  release: "カプセルを解放…",
  saved: "サーバーに保存済みのステート",
  savedNone: "まだありません",
  serial: (serial) => `シリアル ${serial}`,
  atRisk: (serial) =>
    `エージェントにはより新しいステート（シリアル ${serial}）があります。エージェントのディスクが失われると、その内容も失われます。通信が可能になりしだい送信されます。`,
  atRiskFirst:
    "この適用がこれまでに作成したものの記録は、エージェントのディスクにしかありません。通信が可能になりしだい送信されます。",
  safe: "エージェントがより新しいステートを持つという連絡はありません。ディスクが失われても、分かっている範囲で失われるものはありません。",
  atRiskUnknown: "最後の連絡より後にエージェントが書き込んだ内容は、ディスクが失われると失われます。",
  dialogTitle: (name) => `${name} をエージェントから解放しますか？`,
  risk: "エージェントのマシンでツールがまだ適用を続けている可能性があり、ここから停止することはできません。同時に二つの適用が動くと、両方が管理する対象が壊れます。",
  ends: "この実行は失敗として終了します。サーバーにある最新のステートが保持され、存在する可能性のあるリソースが一覧に表示されます。エージェントが後から提出したものは、この実行の証拠として保管されます。",
  isDead: "マシン、またはその上のツールが停止していることを確認しました",
  isDeadHelp: "応答がないだけでは不十分です。電源を切った、削除した、または誰かが直接確認した場合に限ります。",
  reason: "どのように確認しましたか？",
  releaseAction: "解放する",
  released: "解放しました",
  adminOnly: "このワークスペースの管理者は、カプセルを早めに解放できます。"
}

export const agentRunWords = { en, ja }
