//===- Vision.cpp - images and boxes --------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../Families.h"

using namespace anec;
using namespace anec::torch;

/// Reads images at the points of a grid.
static void gridSample(Node &n) {
  static constexpr llvm::StringLiteral modes[] = {"linear", "nearest", "cubic"};
  static constexpr llvm::StringLiteral outside[] = {"zeros", "border",
                                                    "reflection"};
  int64_t mode = n.integer("interpolation_mode"),
          padding = n.integer("padding_mode");
  if (n.failed() || mode < 0 || mode > 2 || padding < 0 || padding > 2)
    return n.fail("its mode is not known");
  n.out(OnnxNode(n, "GridSample")
            .in(n.in("input"))
            .in(n.in("grid"))
            .attr("mode", StringRef(modes[mode]))
            .attr("padding_mode", StringRef(outside[padding]))
            .attr("align_corners", int64_t(n.flag("align_corners")))
            .run());
}

static void affineGrid(Node &n) {
  Shape size = n.ints("size");
  if (n.failed())
    return;
  n.out(OnnxNode(n, "AffineGrid")
            .in(n.in("theta"))
            .in(n.e.list(size))
            .attr("align_corners", int64_t(n.flag("align_corners")))
            .run());
}

/// Boxes that overlap a better one less than `iou_threshold`, the best first.
/// They must be known, since their number depends on them.
static void suppress(Node &n) {
  Emitter &e = n.e;
  Val boxes = n.in("dets"), scores = n.in("scores");
  double overlap = n.number("iou_threshold");
  if (n.failed() || boxes.rank() != 2 || scores.rank() != 1)
    return n.fail("boxes must be [count, 4], and scores [count]");
  int64_t count = boxes.dim(0);
  Val kept = OnnxNode(n, "NonMaxSuppression")
                 .in(e.reshape(boxes, {1, count, 4}))
                 .in(e.reshape(scores, {1, 1, count}))
                 .in(e.scalar(DType::Int32, double(count)))
                 .in(e.scalar(DType::FP32, overlap))
                 .run();
  if (kept)
    n.out(e.reshape(e.slice(kept, 1, 2, 3), {kept.dim(0)}));
}

static void alignRegions(Node &n) {
  Emitter &e = n.e;
  Val x = n.in("input"), regions = n.in("rois");
  if (n.failed() || regions.rank() != 2 || regions.dim(1) != 5)
    return n.fail("regions must be [count, 5]");
  int64_t count = regions.dim(0);
  Val images =
      e.cast(e.reshape(e.slice(regions, 1, 0, 1), {count}), DType::Int32);
  int64_t samples = n.integer("sampling_ratio");
  n.out(OnnxNode(n, "RoiAlign")
            .in(x)
            .in(e.slice(regions, 1, 1, 5))
            .in(images)
            .attr("output_height", n.integer("pooled_height"))
            .attr("output_width", n.integer("pooled_width"))
            .attr("sampling_ratio", std::max<int64_t>(samples, 0))
            .attr("coordinate_transformation_mode",
                  StringRef(n.flag("aligned") ? "half_pixel"
                                              : "output_half_pixel"))
            .number("spatial_scale", n.number("spatial_scale"))
            .run());
}

static void deformableConv(Node &n) {
  Val x = n.in("input"), weight = n.in("weight"), offset = n.in("offset"),
      mask = n.in("mask"), bias = n.in("bias");
  bool usesMask = n.flag("use_mask");
  if (n.failed())
    return;
  auto pair = [&](StringRef first, StringRef second) {
    return Shape{n.integer(first), n.integer(second)};
  };
  Shape pads = pair("pad_h", "pad_w");
  llvm::append_range(pads, Shape(pads));
  OnnxNode node(n, "DeformConv");
  node.in(x).in(weight).in(offset).in(bias);
  if (usesMask)
    node.in(mask);
  n.out(node.attr("strides", pair("stride_h", "stride_w"))
            .attr("pads", pads)
            .attr("dilations", pair("dilation_h", "dilation_w"))
            .attr("group", n.integer("groups"))
            .attr("offset_group", n.integer("offset_groups"))
            .run());
}

static constexpr OpRow visionTable[] = {
    {"aten.affine_grid_generator.default", affineGrid},
    {"aten.grid_sampler.default", gridSample},
    {"aten.grid_sampler_2d.default", gridSample},
    {"torchvision.deform_conv2d.default", deformableConv},
    {"torchvision.nms.default", suppress, "boxes and scores must be known"},
    {"torchvision.roi_align.default", alignRegions},
};

llvm::ArrayRef<OpRow> torch::visionRows() { return visionTable; }
