import ServerAPI

extension ErrorWords {
  static let store = Family(
    origin: Sentence("From the server's store.", "서버의 저장소에서 나옵니다."), owner: .administrator,
    rows: [
      Row(
        "store_read_only", "The file system refuses writes or is full; reads go on.",
        "파일 시스템이 가득 찼거나 쓸 수 없습니다. 읽기는 됩니다.",
        do: "Make room, or mount it for writing; it goes on by itself.", "공간을 확보하거나 쓰기를 허용하세요. 그 뒤 스스로 이어 갑니다."),
      Row(
        "store_unavailable", "The store cannot be reached or opened.", "저장소를 열 수 없습니다.",
        do: "Check that the data folder is there and this user may write to it.", "데이터 폴더와 쓰기 권한을 확인하세요."),
      Row(
        "store_corrupt", "The store's file is damaged.", "저장소 파일이 손상되었습니다.",
        do: "Keep a copy, and restore the last backup.", "사본을 남기고 마지막 백업을 복원하세요."),
      Row(
        "store_schema_newer", "A newer pabal has written this data.", "더 새로운 pabal이 쓴 데이터입니다.",
        do: "Use that version, or a backup from before.", "그 버전을 쓰거나 이전 백업을 쓰세요."),
      Row(
        "store_call_invalid", "The server called its store wrongly.", "서버가 저장소를 잘못 불렀습니다.",
        do: "Report it with the log: it is a fault of ours.", "로그와 함께 알려 주세요. 저희의 오류입니다."),
      Row(
        "store_closed", "The store was closed already.", "저장소가 이미 닫혔습니다.",
        do: "Nothing, if the server was stopping.", "서버가 멈추는 중이었다면 조치할 것이 없습니다."),
      Row(
        "master_key_wrong", "The data was sealed with another master key.", "다른 마스터 키로 봉인된 데이터입니다.",
        do: "Give the master key that this folder was made with.", "이 폴더를 만들 때의 마스터 키를 주세요."),
    ])

  static let start = Family(
    origin: Sentence("The server did not start.", "서버가 시작되지 않았습니다."), owner: .administrator,
    rows: [
      Row(
        "up_configuration", "A setting of the server cannot be.", "서버 설정이 올바르지 않습니다.",
        do: "Correct the setting that is named.", "표시된 설정을 고치세요."),
      Row(
        "up_data_folder", "The data folder cannot be made, read or written.", "데이터 폴더를 만들거나 읽거나 쓸 수 없습니다.",
        do: "Choose another with --data, or mend its owner and mode.", "--data로 다른 곳을 고르거나 소유자와 권한을 고치세요."),
      Row(
        "up_simulator", "The server's stand-in did not start.", "서버의 모의 APNs가 시작되지 않았습니다.",
        do: "Look at the line of the stand-in before it.", "앞에 나온 모의 APNs의 문구를 확인하세요."),
      Row(
        "up_port", "The server's port cannot be had.", "서버의 포트를 쓸 수 없습니다.",
        do: "Give another with --port, or --port 0.", "--port로 다른 포트를 주거나 --port 0을 쓰세요."),
      Row(
        "up_store", "The server's store cannot be opened.", "서버의 저장소를 열 수 없습니다.",
        do: "Look at the cause beside it.", "함께 나온 원인을 확인하세요."),
      Row(
        "up_locked", "Another server holds the data folder.", "다른 서버가 데이터 폴더를 쓰고 있습니다.",
        do: "Stop that one first, or use another folder.", "그 서버를 먼저 멈추거나 다른 폴더를 쓰세요."),
    ])
}
