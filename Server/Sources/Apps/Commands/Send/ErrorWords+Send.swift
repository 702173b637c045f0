import ServerAPI

extension ErrorWords {
  static let sending = Family(
    origin: Sentence(
      "Found by `pabal send` in its list, its journal or its proxy.", "`pabal send`의 목록, 저널 또는 프록시에서 발견되었습니다."),
    owner: .sender,
    rows: [
      Row(
        "journal_mismatch", "The journal belongs to a run with another list, payload, header, endpoint or topic.",
        "저널이 다른 목록, 페이로드, 헤더, 엔드포인트 또는 토픽의 실행에 속합니다.",
        do: "Give everything as it was, or another --resume file.", "모두 그때 그대로 주거나 다른 --resume 파일을 쓰세요."),
      Row(
        "journal_in_use", "Another pabal is using the journal.", "다른 pabal이 저널을 쓰고 있습니다.",
        do: "Wait until the other one has ended.", "다른 쪽이 끝날 때까지 기다리세요."),
      Row(
        "journal_foreign", "The file of --resume is something else than a journal.", "--resume 파일이 저널이 아닙니다.",
        do: "Name a file that does not exist yet.", "아직 없는 파일 이름을 주세요."),
      Row(
        "journal_damaged", "A record of the journal cannot be read, so it is not known what was sent.",
        "저널의 기록을 읽을 수 없어 무엇을 보냈는지 알 수 없습니다.",
        do: "Restore the journal from where it was copied.", "저널을 복사해 둔 곳에서 되살리세요."),
      Row(
        "journal_unwritable", "The journal could not be written, and sending was stopped.",
        "저널을 쓸 수 없어 보내기를 멈췄습니다.",
        do: "Make room on its disk and give the same command again.", "디스크 공간을 늘리고 같은 명령을 다시 실행하세요."),
      Row(
        "list_unreadable", "The device list was readable at first and then was not.", "처음에는 읽히던 기기 목록을 더 읽을 수 없습니다.",
        do: "Put the list on a disk that stays, and send with --resume.", "사라지지 않는 디스크에 목록을 두고 --resume으로 보내세요."),
      Row(
        "proxy_invalid", "The address of the proxy cannot be read.", "프록시 주소를 해석할 수 없습니다.",
        do: "Write it as http://host:port.", "http://host:port 형식으로 쓰세요."),
    ])
}
