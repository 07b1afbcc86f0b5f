const en = {
  title: "Objects may exist that are missing from this plan",
  codes: {
    left_over_state: "An earlier apply left a state behind that is not part of this plan.",
    handed_in_state: "An agent submitted a state of this capsule that is not part of this plan.",
    possibly_created: "An apply that did not finish may have created objects that are not part of this plan."
  },
  risk: "Applying may create them a second time. Adopt or discard the state, or look at the provider, and plan again.",
  openCapsule: "Open the capsule",
  confirmHelp: "Because objects may exist that are missing from this plan."
}

const ja: typeof en = {
  title: "このプランが把握していないオブジェクトが存在する可能性があります",
  codes: {
    left_over_state: "以前の適用が残したステートが、このプランに含まれていません。",
    handed_in_state: "エージェントが提出したこのカプセルのステートが、このプランに含まれていません。",
    possibly_created: "完了しなかった適用が、このプランに含まれないオブジェクトを作成した可能性があります。"
  },
  risk: "適用すると、二重に作成される可能性があります。ステートを採用または破棄するか、プロバイダーで確認してから、プランを作り直してください。",
  openCapsule: "カプセルを開く",
  confirmHelp: "このプランが把握していないオブジェクトが存在する可能性があるためです。"
}

export const uncertainWords = { en, ja }
