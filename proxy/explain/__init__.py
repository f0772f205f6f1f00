"""What the gateway would do with one request, without doing it: ``toolwire explain``.

The real stack of the chosen upstream is built, with a probe in each gap between two layers and, in
the place of the forwarder, an upstream that notes what would be sent to it and plays a recorded
answer, if there is one.  Nothing that a middleware does is done here a second time, so what is told
is what happens.

    given.py        what somebody wants explained: files, recognised and checked
    trace.py        the stack with its probes, run once
    explanation.py  what the trace means, as data
    text.py, document.py    that, for people and for programs
"""
