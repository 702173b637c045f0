"""aioapns as a client of the stand-in: one push, many at once, a wrong one, a dead token. Prints one JSON object.

Nothing of aioapns is replaced but the address that it dials: it knows Apple's hosts only.
"""
import asyncio
import json
import ssl
import sys

from aioapns import APNs, NotificationRequest, PushType
from aioapns.connection import APNsDevelopmentClientProtocol

given = json.loads(sys.argv[1])


async def main():
    APNsDevelopmentClientProtocol.APNS_SERVER = given["host"]
    APNsDevelopmentClientProtocol.APNS_PORT = given["port"]
    context = ssl.create_default_context(cafile=given["caFile"])
    context.set_alpn_protocols(["h2"])
    credentials = {}
    if "certFile" in given:
        credentials["client_cert"] = given["certFile"]
    else:
        with open(given["keyFile"]) as file:
            credentials.update(key=file.read(), key_id=given["keyId"], team_id=given["teamId"])

    async def no_complaint(request, response):
        pass

    client = APNs(topic=given["topic"], use_sandbox=True, max_connections=1, ssl_context=context,
                  err_func=no_complaint, **credentials)

    async def push(text, token=given["token"], **further):
        request = NotificationRequest(device_token=token, message={"aps": {"alert": text}}, push_type=PushType.ALERT,
                                      **further)
        reply = await client.send_notification(request)
        return {"status": reply.status, "reason": reply.description, "timestamp": getattr(reply, "timestamp", None),
                "echoed": reply.notification_id == request.notification_id}

    first = await push("첫 푸시", time_to_live=60, priority=10, collapse_key="one")
    many = await asyncio.gather(*[push(f"push {number}") for number in range(200)])
    wrong = await push("wrong", priority=3)
    dead = await push("dead", token=given["deadToken"])
    print(json.dumps({"first": first, "many": many, "wrong": wrong, "dead": dead}))


asyncio.run(main())
