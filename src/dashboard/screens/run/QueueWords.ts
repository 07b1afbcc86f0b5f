const en = {
  queueTitle: "Waiting in the queue",
  queueCapsule: (before: number) =>
    before === 1 ? "One run of this capsule comes first." : `${before} runs of this capsule come first.`,
  queueWorkspaceLimit: (limit: number, pool: string) =>
    `This workspace already has ${limit} ${pool} executing, which is its limit.`,
  queuePlacesTaken: (limit: number, pool: string) =>
    limit === 1
      ? `The only place for ${pool} is taken. Workspaces take turns when it becomes free.`
      : `All ${limit} places for ${pool} are taken. Workspaces take turns when one becomes free.`,
  queuePlaceKept:
    "The last free place is reserved for requests of people. This drift check waits for another free place.",
  queueNoAgent: "No agent of its pool can execute it now.",
  missing: {
    assignment: () => "The operator has not assigned the pool to this workspace.",
    agent: () => "No agent of the pool is connected.",
    tool: (needed: string) => `No connected agent has what it needs: ${needed}.`,
    platform: (needed: string) => `No connected agent runs on ${needed}.`,
    isolation: (needed: string) => `No connected agent provides the required isolation: ${needed}.`,
    credentials: (needed: string) => `No connected agent has the credentials ${needed}.`,
    capability: () => "The connected agents run a release that cannot make this kind of plan. Update them.",
    disk: () => "The disks of all suitable agents are nearly full.",
    undrained: () => "All suitable agents are draining.",
    leases: (needed: string) => `After a restore, applies wait until earlier ones are over: ${needed}.`
  },
  queueOfPool: (pool: string) => `It is for the pool ${pool}.`,
  openAgents: "See its agents",
  queueTurn: "Nothing blocks this run. It starts when its turn comes.",
  queuePools: { runs: "runs", builds: "syncs, checks and builds", agents: "runs of this pool" },
  queuePosition: (position: number) => `It is number ${position} in this workspace.`,
  queueHolder: "It waits for:",
  openHolder: "open that run"
}

const ja: typeof en = {
  queueTitle: "順番を待っています",
  queueCapsule: (before: number) => `このカプセルの実行が、先に ${before} 件あります。`,
  queueWorkspaceLimit: (limit: number, pool: string) =>
    `このワークスペースでは、すでに上限の ${limit} 件の${pool}が進行中です。`,
  queuePlacesTaken: (limit: number, pool: string) =>
    `${pool}の実行枠 ${limit} 件がすべて使用中です。空きしだい、ワークスペースごとに順番に始まります。`,
  queuePlaceKept: "最後の空き枠は、人が開始する実行のために残されています。このドリフト確認は次の空きを待ちます。",
  queueNoAgent: "現在、このプールで実行できるエージェントがありません。",
  missing: {
    assignment: () => "運用者が、このプールをこのワークスペースに割り当てていません。",
    agent: () => "プールのエージェントが一つも接続していません。",
    tool: (needed) => `接続中のエージェントに、必要なツールがありません: ${needed}`,
    platform: (needed) => `${needed} で動作するエージェントが接続していません。`,
    isolation: (needed) => `必要な隔離を提供できるエージェントが接続していません: ${needed}`,
    credentials: (needed) => `認証情報 ${needed} を持つエージェントが接続していません。`,
    capability: () => "接続中のエージェントは、この種類のプランに対応していないリリースです。更新してください。",
    disk: () => "条件に合うエージェントのディスクの空きがほとんどありません。",
    undrained: () => "条件に合うエージェントは停止準備中です。",
    leases: (needed) => `復元後は、以前の適用が終わるまで適用は始まりません: ${needed}`
  },
  queueOfPool: (pool) => `この実行の割り当て先はプール ${pool} です。`,
  openAgents: "エージェントを見る",
  queueTurn: "妨げるものはありません。順番が来しだい始まります。",
  queuePools: { runs: "実行", builds: "同期・確認・ビルド", agents: "このプールの実行" },
  queuePosition: (position: number) => `このワークスペースで ${position} 番目です。`,
  queueHolder: "待っている相手:",
  openHolder: "その実行を開く"
}

export const queueWords = { en, ja }
