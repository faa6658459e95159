"""Architectures that take images: torchvision's and timm's."""
from _zoo import Architecture, Input, pixels


def _timm(name, model, options="", extent=64, **more):
    options = f", {options}" if options else ""
    return Architecture(name, "timm", f"create_model('{model}', num_classes=10{options})",
                        pixels(extent), **more)


def _class(name, make, options):
    return Architecture(name, "timm", f"models.{make}(num_classes=10, {options})", pixels(64))


def _torchvision(name, make, inputs=None, **more):
    return Architecture(name, "torchvision.models", make, inputs or pixels(64), **more)


# Operators that coremltools does not have, in traces or at all.
TRACED = ("trace-*", "image*", "classifier*", "functions*", "int*", "uint*", "palette*",
          "sparse*")
COREML = ("*-ios*",)

TORCHVISION = (
    _torchvision("resnet", "ResNet(resnet.BasicBlock, [1, 1, 1, 1], num_classes=10)"),
    _torchvision("resnext", "ResNet(resnet.Bottleneck, [1, 1, 1, 1], num_classes=10,"
                 " groups=8, width_per_group=8)"),
    _torchvision("mobilenet-v2", "mobilenet_v2(width_mult=0.35, num_classes=10)"),
    _torchvision("mobilenet-v3", "mobilenet_v3_small(width_mult=0.5, num_classes=10)"),
    _torchvision("mnasnet", "MNASNet(0.5, num_classes=10)"),
    _torchvision("shufflenet-v2", "shufflenet_v2_x0_5(num_classes=10)"),
    _torchvision("squeezenet", "squeezenet1_1(num_classes=10)"),
    _torchvision("densenet", "DenseNet(8, (2, 2, 2, 2), 16, num_classes=10)"),
    _torchvision("efficientnet", "efficientnet_b0(num_classes=10)"),
    _torchvision("googlenet", "GoogLeNet(num_classes=10, aux_logits=False, init_weights=False)"),
    _torchvision("regnet-y", "regnet_y_400mf(num_classes=10)"),
    _torchvision("vit-torchvision", "VisionTransformer(image_size=64, patch_size=16,"
                 " num_layers=2, num_heads=2, hidden_dim=32, mlp_dim=64, num_classes=10)"),
    _torchvision("swin-torchvision", "SwinTransformer(patch_size=[4, 4], embed_dim=24,"
                 " depths=[2, 2], num_heads=[2, 4], window_size=[4, 4], num_classes=10)"),
    _torchvision("swin-v2-torchvision", "SwinTransformer(patch_size=[4, 4], embed_dim=24,"
                 " depths=[2, 2], num_heads=[2, 4], window_size=[4, 4], num_classes=10,"
                 " block=swin_transformer.SwinTransformerBlockV2,"
                 " downsample_layer=swin_transformer.PatchMergingV2)", without=TRACED),
    _torchvision("maxvit", "MaxVit(input_size=(64, 64), stem_channels=16, partition_size=4,"
                 " block_channels=[16, 32], block_layers=[1, 1], head_dim=8,"
                 " stochastic_depth_prob=0.0, num_classes=10)", without=TRACED),
    _torchvision("convnext-torchvision", "ConvNeXt([convnext.CNBlockConfig(16, 32, 2),"
                 " convnext.CNBlockConfig(32, None, 2)], num_classes=10)"),
    _torchvision("lraspp", "segmentation.lraspp_mobilenet_v3_large(num_classes=4,"
                 " weights_backbone=None)"),
    _torchvision("deeplab-v3", "segmentation.deeplabv3_mobilenet_v3_large(num_classes=4,"
                 " weights_backbone=None)"),
    _torchvision("swin-3d", "video.SwinTransformer3d(patch_size=[2, 4, 4], embed_dim=24,"
                 " depths=[2, 1], num_heads=[2, 2], window_size=[2, 4, 4], num_classes=10)",
                 (Input("video", "normal", (1, 3, 4, 32, 32)),), without=COREML),
    _torchvision("mvit-3d", "video.MViT((32, 32), 4, [video.mvit.MSBlockConfig(2, 16, 16,"
                 " [3, 3, 3], [3, 3, 3], [1, 1, 1], [1, 2, 2]), video.mvit.MSBlockConfig(2, 16,"
                 " 32, [3, 3, 3], [3, 3, 3], [1, 2, 2], [1, 1, 1])], residual_pool=False,"
                 " residual_with_cls_embed=True, rel_pos_embed=False, proj_after_attn=False,"
                 " num_classes=10)", (Input("video", "normal", (1, 3, 4, 32, 32)),)),
    _torchvision("r2plus1d", "video.VideoResNet(video.resnet.BasicBlock,"
                 " [video.resnet.Conv2Plus1D] * 4, [1, 1, 1, 1], video.resnet.R2Plus1dStem,"
                 " num_classes=10)", (Input("video", "normal", (1, 3, 4, 32, 32)),)),
)

TIMM = (
    _timm("test-resnet", "test_resnet"),
    _timm("test-byobnet", "test_byobnet"),
    _timm("test-nfnet", "test_nfnet"),
    _timm("test-vit", "test_vit", "img_size=64"),
    _timm("test-vit3", "test_vit3", "img_size=64"),
    _timm("test-vit4", "test_vit4", "img_size=64"),
    _timm("test-coatnet", "test_coatnet", "img_size=64"),
    _timm("test-maxvit", "test_maxvit", "img_size=64"),
    _timm("test-convnext", "test_convnext"),
    _timm("test-efficientnet-gn", "test_efficientnet_gn"),
    _timm("test-efficientnet-evos", "test_efficientnet_evos"),
    _timm("test-efficientnet-ln", "test_efficientnet_ln"),
    _timm("test-mambaout", "test_mambaout"),
    _timm("test-vit-relpos", "test_vit_relpos", "img_size=64"),
    _timm("ghostnet", "ghostnet_050"),
    _timm("ghostnet-v2", "ghostnetv2_100"),
    _timm("mobilenet-v4", "mobilenetv4_conv_small"),
    _timm("efficientvit", "efficientvit_b0"),
    _timm("efficientvit-m", "efficientvit_m0", "img_size=64"),
    _timm("mobilevit", "mobilevit_xxs"),
    _timm("mobilevit-v2", "mobilevitv2_050"),
    _timm("edgenext", "edgenext_xx_small"),
    _timm("fastvit", "fastvit_t8"),
    _timm("mobileone", "mobileone_s0"),
    _timm("repghostnet", "repghostnet_050"),
    _timm("repvit", "repvit_m0_9"),
    _timm("tinynet", "tinynet_e"),
    _timm("lcnet", "lcnet_035"),
    _timm("mixnet", "mixnet_s"),
    _timm("dla", "dla46_c"),
    _timm("vovnet", "ese_vovnet19b_slim_dw"),
    _timm("gernet", "gernet_s"),
    _timm("xcit", "xcit_nano_12_p16_224", "img_size=64, depth=2"),
    _timm("cait", "cait_xxs24_224", "img_size=64, depth=2, embed_dim=48, num_heads=2"),
    _timm("coat", "coat_lite_tiny", "img_size=64"),
    _class("poolformer", "metaformer.MetaFormer", "depths=(1, 1, 1, 1), dims=(16, 24, 32, 48),"
           " downsample_norm=None, layer_scale_init_values=1e-5, res_scale_init_values=None,"
           " use_mlp_head=False"),
    _class("convmixer", "convmixer.ConvMixer", "dim=48, depth=2"),
    _class("mixer", "mlp_mixer.MlpMixer", "img_size=64, num_blocks=2, embed_dim=48"),
    _class("resmlp", "mlp_mixer.MlpMixer", "img_size=64, num_blocks=2, embed_dim=48, mlp_ratio=4,"
           " block_layer=models.mlp_mixer.ResBlock, norm_layer=models.mlp_mixer.Affine"),
    _class("gmlp", "mlp_mixer.MlpMixer", "img_size=64, num_blocks=2, embed_dim=48, mlp_ratio=6,"
           " block_layer=models.mlp_mixer.SpatialGatingBlock,"
           " mlp_layer=models.mlp_mixer.GatedMlp"),
    _timm("convit", "convit_tiny", "img_size=64, depth=2, local_up_to_layer=1, embed_dim=48"),
    _timm("twins", "twins_svt_small", "img_size=64, depths=(1, 1, 1, 1)"),
    _timm("pvt-v2", "pvt_v2_b0"),
    _timm("pit", "pit_ti_224", "img_size=64"),
    _timm("levit", "levit_128s", "img_size=64"),
    _timm("tnt", "tnt_s_patch16_224", "img_size=64, depth=2"),
    _timm("visformer", "visformer_tiny", "img_size=64"),
    _class("nest", "nest.Nest", "img_size=64, num_levels=2, embed_dims=(24, 48),"
           " num_heads=(2, 4), depths=(1, 1)"),
    _class("volo", "volo.VOLO", "layers=(1, 1, 1, 1), img_size=64,"
           " embed_dims=(48, 96, 96, 96), num_heads=(2, 4, 4, 4)"),
    _timm("beit", "beit_base_patch16_224", "img_size=64, depth=2, embed_dim=48, num_heads=2"),
    _timm("eva02", "eva02_tiny_patch14_224", "img_size=56, depth=2", 56),
    _timm("deit-distilled", "deit_tiny_distilled_patch16_224", "img_size=64, depth=2"),
    _timm("dino-registers", "vit_small_patch14_reg4_dinov2",
          "img_size=56, depth=2, embed_dim=48, num_heads=2", 56),
    _timm("hiera", "hiera_tiny_224", "img_size=(64, 64), stages=(1, 1, 1, 1), embed_dim=24"),
    _timm("hgnet", "hgnetv2_b0"),
    _timm("inception-next", "inception_next_atto"),
    _timm("davit", "davit_tiny", "depths=(1, 1), embed_dims=(24, 48), num_heads=(2, 4),"
          " window_size=4"),
    _class("focalnet", "focalnet.FocalNet", "depths=(1, 1), embed_dim=24,"
           " focal_levels=(2, 2), focal_windows=(3, 3)"),
    _class("mvit-v2", "mvitv2.MultiScaleVit", "cfg=models.mvitv2.MultiScaleVitCfg("
           "depths=(1, 1, 1, 1), embed_dim=24, num_heads=1), img_size=(64, 64)"),
    _timm("efficientformer-v2", "efficientformerv2_s0", "img_size=64"),
    _timm("starnet", "starnet_s1"),
    _timm("shvit", "shvit_s1"),
    _timm("swiftformer", "swiftformer_xs"),
    _timm("tiny-vit", "tiny_vit_5m_224", extent=128),
    _timm("sam-encoder", "samvit_base_patch16", "img_size=64, depth=2, embed_dim=48,"
          " num_heads=2, window_size=2, global_attn_indexes=(1,), neck_chans=32"),
    _timm("convnext-v2", "convnextv2_atto", "depths=(1, 1, 1, 1)"),
    _timm("swin-v2-cr", "swinv2_cr_tiny_ns_224", "img_size=64, embed_dim=24,"
          " depths=(1, 1, 1, 1), window_size=2"),
    _timm("botnet", "botnet26t_256", "img_size=64"),
    _timm("sequencer", "sequencer2d_s", "img_size=64, layers=(1, 1, 1, 1)"),
    _timm("fasternet", "fasternet_t0"),
    _timm("skresnet", "skresnet18", "layers=(1, 1, 1, 1)"),
    _timm("csatv2", "csatv2", extent=64),
)

ROWS = TORCHVISION + TIMM

# Compared by --full alone, for the sample's time.
MORE = tuple("""
resnet resnext mobilenet-v2 mobilenet-v3 mnasnet shufflenet-v2 squeezenet densenet
efficientnet googlenet regnet-y vit-torchvision swin-torchvision swin-v2-torchvision
maxvit convnext-torchvision lraspp deeplab-v3 swin-3d mvit-3d r2plus1d test-resnet
test-nfnet test-vit test-vit4 test-coatnet test-maxvit test-convnext test-efficientnet-gn
test-efficientnet-evos test-efficientnet-ln test-mambaout test-vit-relpos ghostnet
ghostnet-v2 mobilenet-v4 efficientvit efficientvit-m mobilevit mobilevit-v2 edgenext
fastvit mobileone repghostnet repvit tinynet lcnet mixnet coat deit-distilled
dino-registers hiera hgnet inception-next davit focalnet mvit-v2 efficientformer-v2
starnet shvit swiftformer tiny-vit sam-encoder convnext-v2 swin-v2-cr botnet sequencer
fasternet skresnet csatv2
""".split())
