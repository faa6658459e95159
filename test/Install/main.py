"""A program that embeds anec."""
import anec
import numpy

session = anec.Session(anec.compile("digits.tdsl", seed=7))
images = numpy.ones((784, 64), numpy.float16)
labels = numpy.zeros(64, numpy.int32)
outputs = session.run({"images": images, "labels": labels})
print("loss", outputs["output"], "with", len(session.gradients), "gradients")
