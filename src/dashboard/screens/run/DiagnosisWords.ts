import { counted } from "../../words/Format.ts"

const en = {
  possiblyTitle: "Check these by hand",
  possiblyText: "The apply ended while it was working on them. They may or may not exist; the state does not show it.",
  possiblyLost:
    "The tool may have worked on them after the agent's last message. They may or may not exist as planned; the saved state does not show it.",
  unsafeTitle: "It is uncertain which objects exist",
  unsafeText:
    "The last apply of this capsule ended without evidence of its result. svc keeps the part of the state that was saved. Make a new plan: it reads the real infrastructure and shows the differences.",
  partialTitle: "Part of this was applied",
  partialText:
    "Changes finished before the failure are kept in a partial state version. The next plan continues from there.",
  partialCount: (done: number, total: number) =>
    `${done} of ${total} changes happened and are in the saved state. The next plan continues from there and repeats none of them.`,
  inLog: "show in the log",
  failedTitle: "Why it failed",
  nextTitle: "What to do next",
  advice: {
    network:
      "The runner could not reach the Git server, a registry or the provider. Check its address and that this server may reach it, then run again.",
    credentials:
      "A provider refused the credentials, or has none. Check the connection: test it, or create a new one and bind it to the capsule.",
    configuration:
      "The module or one of its inputs is not valid. Correct it in the repository or in the capsule's configuration, then plan again.",
    state:
      "Changes made before the failure are recorded. Make a new plan to see the remaining changes; do not create anything by hand that may already exist.",
    stale: "Something changed after the plan was made. Make and review a new plan.",
    timeout: "The run exceeded its time limit. Check the log for the step that took so long.",
    plan: "Read the message above and the last lines of the log. A plan changes nothing, so it is safe to run again.",
    agent:
      "If the agent returns, it submits its state and its journal. They appear here, and the state can be adopted. Check the resources that may exist, then make a new plan, which reads the real infrastructure.",
    apply: "Read the message above and the last lines of the log, then make a new plan to see what is left.",
    lifecycle:
      "The tool succeeded and its state and outputs are saved; only the operator's check after the apply failed. Fix the reported problem and plan again. If the check is wrong, the operator corrects it; then re-adopt the configuration or make a new plan, and apply the plan.",
    profile:
      "This server cannot meet the operator's execution settings for this module. Send the message above to the operator, then plan again.",
    other: "Read the message above and the log. If it looks like a server fault, send the run id to the operator."
  },
  limits: {
    memory_limit:
      "The run needed more memory than a run may use here. Other runs were not affected. Make the module or its build need less, or ask the server's operator for more.",
    process_limit:
      "The run started more processes than a run may have here. Other runs were not affected. Make the module or its build start fewer, or ask the server's operator for more.",
    tmp_limit:
      "The run filled its temporary folder /tmp. Make the module or its build write less there, or ask the server's operator for more.",
    shm_limit:
      "The run filled its shared memory /dev/shm. Make the module or its build use less of it, or ask the server's operator for more.",
    folder_limit:
      "The run wrote more into its folder than a run may write here. Make the module or its build write less, or ask the server's operator for more.",
    disk_low:
      "The server's disk was nearly full, and this run used most of it. Contact the server's operator, and run again when there is space."
  },
  fixConnection: "Open connections",
  editConfiguration: "Open configuration",
  warnings: (count: number) => counted(count, "warning")
}

const ja: typeof en = {
  possiblyTitle: "次のリソースは手動で確認してください",
  possiblyText: "処理の途中で適用が終了しました。存在するかどうかは、ステートからは判断できません。",
  possiblyLost:
    "エージェントからの最後の連絡より後に、ツールが処理した可能性があります。プランどおりに存在するかどうかは、保存されたステートからは判断できません。",
  unsafeTitle: "実際の状態が確認できていません",
  unsafeText:
    "このカプセルの直前の適用は、結果の証拠を残さずに終了しました。保存できたステートは保持されています。新しいプランを作成すると、実際のインフラを読み取って差異を表示します。",
  partialTitle: "一部が適用されています",
  partialText:
    "失敗までに完了した分は、部分的なステートバージョンとして保存されています。次のプランはそこから続きます。",
  partialCount: (done: number, total: number) =>
    `${total} 件中 ${done} 件の変更が行われ、保存済みのステートに含まれています。次のプランはその続きからになり、繰り返しはありません。`,
  inLog: "ログで表示",
  failedTitle: "失敗の原因",
  nextTitle: "次にすること",
  advice: {
    network:
      "Git サーバー、レジストリ、またはプロバイダーに接続できませんでした。アドレスと、このサーバーからの到達性を確認して再実行してください。",
    credentials:
      "プロバイダーの認証情報がないか、拒否されました。接続をテストするか、新しい接続を作成してカプセルに割り当ててください。",
    configuration:
      "モジュールまたは入力値が正しくありません。リポジトリかカプセルの構成を修正して、プランを作り直してください。",
    state:
      "失敗までの変更は記録されています。新しいプランで残りを確認してください。すでに存在するかもしれないものを手動で作り直さないでください。",
    stale: "プランの作成後に状況が変わりました。新しいプランを作成してレビューしてください。",
    timeout: "制限時間を超えました。何を待っていたかをログで確認してください。",
    plan: "上のメッセージとログの末尾を確認してください。プランは何も変更しないので、再実行しても安全です。",
    agent:
      "エージェントが復帰すると、手元のステートと記録を提出します。この画面に表示され、ステートは採用できます。存在する可能性のあるものを確認してから、新しいプランを作成してください。プランは実際のインフラを読み取ります。",
    apply: "上のメッセージとログの末尾を確認し、新しいプランで残りを確認してください。",
    lifecycle:
      "ツールは成功し、ステートと出力は保存されています。適用後の運用者による確認だけが通りませんでした。原因を直してプランを作り直してください。確認の設定が誤っている場合は、運用者が直したあとに構成を再採用するか新しいプランを作成し、それを適用してください。",
    profile:
      "このモジュールの実行方法と設定は運用者が決めており、このサーバーでは満たせません。上のメッセージを運用者に伝え、その後プランを作り直してください。",
    other:
      "上のメッセージとログを確認してください。サーバーの不具合と思われる場合は、実行 ID を運用者に伝えてください。"
  },
  limits: {
    memory_limit:
      "実行あたりのメモリ上限を超えました。ほかの実行への影響はありません。モジュールやビルドの使用量を減らすか、サーバーの運用者に上限の引き上げを依頼してください。",
    process_limit:
      "実行あたりのプロセス数の上限を超えました。ほかの実行への影響はありません。モジュールやビルドが起動するプロセスを減らすか、サーバーの運用者に上限の引き上げを依頼してください。",
    tmp_limit:
      "一時フォルダー /tmp がいっぱいになりました。書き込みを減らすか、サーバーの運用者に上限の引き上げを依頼してください。",
    shm_limit:
      "共有メモリ /dev/shm がいっぱいになりました。使用量を減らすか、サーバーの運用者に上限の引き上げを依頼してください。",
    folder_limit:
      "実行フォルダーへの書き込みが上限を超えました。モジュールやビルドの書き込みを減らすか、サーバーの運用者に上限の引き上げを依頼してください。",
    disk_low:
      "サーバーのディスクの空きがほとんどなく、この実行が最も多く使っていました。サーバーの運用者に連絡し、空きができてから再実行してください。"
  },
  fixConnection: "接続を開く",
  editConfiguration: "構成を開く",
  warnings: (count: number) => `警告 ${count} 件`
}

export const diagnosisWords = { en, ja }
